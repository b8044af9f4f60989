// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalDai} from "../../local/LocalDai.sol";
import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {LocalUsdt} from "../../local/LocalUsdt.sol";
import {Test} from "../base/Test.sol";
import {UpgradedUsdt} from "../hostile/UpgradedUsdt.sol";

/// @notice The stand-ins behave where the originals differ from plain tokens.
contract LocalTokensTest is Test {
    address internal minter = account("minter");
    address internal owner = account("owner");
    address internal other = account("other");

    LocalUsdc internal usdc;
    LocalUsdt internal usdt;
    LocalDai internal dai;

    function setUp() public {
        vm.warp(1_800_000_000);
        usdc = new LocalUsdc("USD Coin", "USDC", minter);
        usdt = new LocalUsdt("Tether USD", "USDT", minter);
        dai = new LocalDai("Dai Stablecoin", "DAI", minter);
        vm.startPrank(minter);
        usdc.mint(owner, 1_000);
        dai.mint(owner, 1_000);
        usdt.issue(1_000);
        usdt.transfer(owner, 1_000);
        vm.stopPrank();
    }

    function test_describeThemselves() public view {
        vm.assertEq(usdc.name(), "USD Coin", "name");
        vm.assertEq(usdc.symbol(), "USDC", "symbol");
        vm.assertEq(usdc.decimals(), 6, "usdc decimals");
        vm.assertEq(usdt.decimals(), 6, "usdt decimals");
        vm.assertEq(dai.decimals(), 18, "dai decimals");
        vm.assertEq(usdc.totalSupply() + usdt.totalSupply() + dai.totalSupply(), 3_000, "supplies");
    }

    function test_reverts_whenAnyoneElseMints(address caller) public {
        vm.assume(caller != minter);
        vm.startPrank(caller);
        vm.expectRevert();
        usdc.mint(caller, 1);
        vm.expectRevert();
        dai.mint(caller, 1);
        vm.expectRevert();
        usdt.issue(1);
        vm.stopPrank();
    }

    function test_permitSetsTheAllowanceOnce(uint256 value, bool ofDai) public {
        LocalUsdc token = ofDai ? LocalUsdc(address(dai)) : usdc;
        uint256 deadline = block.timestamp;
        bytes32 structHash = keccak256(abi.encode(token.PERMIT_TYPEHASH(), owner, other, value, 0, deadline));
        (uint8 v, bytes32 r, bytes32 s) = signFor(token.DOMAIN_SEPARATOR(), structHash);
        token.permit(owner, other, value, deadline, v, r, s);
        vm.assertEq(token.allowance(owner, other), value, "allowance");
        vm.assertEq(token.nonces(owner), 1, "nonce");
        vm.expectRevert();
        token.permit(owner, other, value, deadline, v, r, s);
    }

    function test_reverts_whenAPermitIsLate(uint32 late) public {
        vm.assume(late != 0);
        uint256 deadline = block.timestamp;
        bytes32 structHash = keccak256(abi.encode(usdc.PERMIT_TYPEHASH(), owner, other, 1, 0, deadline));
        (uint8 v, bytes32 r, bytes32 s) = signFor(usdc.DOMAIN_SEPARATOR(), structHash);
        vm.warp(deadline + late);
        vm.expectRevert(bytes(abi.encodeWithSignature("Error(string)", "permit is expired")));
        usdc.permit(owner, other, 1, deadline, v, r, s);
    }

    function test_authorizationMovesOnce(bytes32 nonce, bool receive_) public {
        uint256 validBefore = block.timestamp + 1;
        bytes32 typeHash =
            receive_ ? usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH() : usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
        (uint8 v, bytes32 r, bytes32 s) =
            signFor(usdc.DOMAIN_SEPARATOR(), keccak256(abi.encode(typeHash, owner, other, 400, 0, validBefore, nonce)));
        if (receive_) {
            vm.expectRevert();
            usdc.receiveWithAuthorization(owner, other, 400, 0, validBefore, nonce, v, r, s);
            vm.prank(other);
            usdc.receiveWithAuthorization(owner, other, 400, 0, validBefore, nonce, v, r, s);
        } else {
            usdc.transferWithAuthorization(owner, other, 400, 0, validBefore, nonce, v, r, s);
        }
        vm.assertEq(usdc.balanceOf(other), 400, "moved");
        vm.assertEq(usdc.authorizationState(owner, nonce), true, "used");
        vm.prank(other);
        vm.expectRevert();
        usdc.transferWithAuthorization(owner, other, 400, 0, validBefore, nonce, v, r, s);
    }

    function test_reverts_whenAnAuthorizationIsOutOfTimeOrCancelled(bytes32 nonce) public {
        uint256 validBefore = block.timestamp + 10;
        uint256 validAfter = block.timestamp;
        (uint8 v, bytes32 r, bytes32 s) = signFor(
            usdc.DOMAIN_SEPARATOR(),
            keccak256(
                abi.encode(usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(), owner, other, 1, validAfter, validBefore, nonce)
            )
        );
        vm.expectRevert();
        usdc.transferWithAuthorization(owner, other, 1, validAfter, validBefore, nonce, v, r, s);
        vm.warp(validBefore);
        vm.expectRevert();
        usdc.transferWithAuthorization(owner, other, 1, validAfter, validBefore, nonce, v, r, s);
        vm.warp(validAfter + 1);
        (uint8 cv, bytes32 cr, bytes32 cs) =
            signFor(usdc.DOMAIN_SEPARATOR(), keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), owner, nonce)));
        usdc.cancelAuthorization(owner, nonce, cv, cr, cs);
        vm.expectRevert();
        usdc.transferWithAuthorization(owner, other, 1, validAfter, validBefore, nonce, v, r, s);
    }

    function test_usdcBlocksSenderRecipientAndSpender(uint8 which) public {
        vm.prank(owner);
        usdc.approve(minter, 10);
        vm.prank(minter);
        usdc.blacklist([owner, other, minter][which % 3]);
        vm.prank(minter);
        vm.expectRevert();
        usdc.transferFrom(owner, other, 1);
        vm.assertEq(usdc.balanceOf(owner), 1_000, "the mark does not show in the balance");
    }

    function test_usdtAnswersNothingAndChangesAllowancesByWayOfZero() public {
        (bool success, bytes memory answer) =
            address(usdt).call(abi.encodeWithSignature("approve(address,uint256)", other, 5));
        vm.assertEq(success, true, "first approval");
        vm.assertEq(answer.length, 0, "answer");
        (success,) = address(usdt).call(abi.encodeWithSignature("approve(address,uint256)", other, 6));
        vm.assertEq(success, false, "change without zero");
        usdt.approve(other, 0);
        usdt.approve(other, 6);
        vm.assertEq(usdt.allowance(address(this), other), 6, "allowance");
    }

    function test_usdtTakesAFeeUpToItsMaximum(uint256 value, uint8 basisPoints, uint8 most) public {
        value = bound(value, 0, 1e15);
        (uint256 rate, uint256 maximum) = (basisPoints % 20, uint256(most % 50) * 1e6);
        vm.startPrank(minter);
        usdt.setParams(rate, most % 50);
        usdt.issue(value);
        uint256 held = usdt.balanceOf(minter);
        usdt.transfer(other, value);
        vm.stopPrank();
        uint256 fee = value * rate / 10_000 > maximum ? maximum : value * rate / 10_000;
        vm.assertEq(usdt.balanceOf(other), value - fee, "receiver");
        vm.assertEq(usdt.balanceOf(minter), held - value + fee, "the fee is the minter's");
    }

    function test_reverts_whenUsdtsFeeIsOutOfBounds() public {
        vm.startPrank(minter);
        usdt.setParams(19, 49);
        vm.expectRevert();
        usdt.setParams(20, 49);
        vm.expectRevert();
        usdt.setParams(19, 50);
        vm.stopPrank();
        vm.assertEq(usdt.basisPointsRate(), 19, "rate");
        vm.assertEq(usdt.maximumFee(), 49e6, "maximum");
    }

    /// @dev The last byte of an amount left out would be another amount.
    function test_reverts_whenUsdtsCalldataIsShort(uint8 missing) public {
        missing = uint8(bound(missing, 1, 64));
        bytes[3] memory calls = [
            abi.encodeCall(LocalUsdt.transfer, (other, 256)),
            abi.encodeCall(LocalUsdt.transferFrom, (owner, other, 0)),
            abi.encodeCall(LocalUsdt.approve, (other, 256))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            bytes memory data = calls[i];
            vm.prank(owner);
            (bool success,) = address(usdt).call(data);
            vm.assertEq(success, true, "whole");
            assembly ("memory-safe") {
                mstore(data, sub(mload(data), missing))
            }
            vm.prank(owner);
            (success,) = address(usdt).call(data);
            vm.assertEq(success, false, "short");
        }
    }

    function test_usdtHandsEverythingOnToItsSuccessor() public {
        UpgradedUsdt successor = new UpgradedUsdt(address(usdt));
        successor.take(owner, 300);
        vm.expectRevert();
        usdt.deprecate(address(successor));
        vm.prank(minter);
        usdt.deprecate(address(successor));
        vm.assertEq(usdt.totalSupply(), 300, "supply");
        vm.startPrank(owner);
        usdt.transfer(other, 100);
        usdt.approve(minter, 50);
        vm.stopPrank();
        vm.assertEq(usdt.allowance(owner, minter), 50, "allowance");
        vm.prank(minter);
        usdt.transferFrom(owner, other, 50);
        vm.assertEq(successor.balanceOf(other), 150, "moved there");
        vm.assertEq(usdt.balanceOf(owner), 150, "asked there");
    }

    function signFor(bytes32 separator, bytes32 structHash) private pure returns (uint8 v, bytes32 r, bytes32 s) {
        return vm.sign(keyOf("owner"), keccak256(abi.encodePacked(hex"1901", separator, structHash)));
    }
}
