// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PayoutVault} from "../src/PayoutVault.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

/// @notice The roles of both contracts: each function of `IAccess` runs against gateway and vault.
contract AccessTest is GatewayTest {
    PayoutVault internal payoutVault;

    function setUp() public override {
        super.setUp();
        payoutVault = newVault(controller, signer, settler, guardian);
    }

    function test_handsTheControllerRoleOverInTwoSteps(bool ofVault, address next) public {
        vm.assume(next != address(0) && next != controller);
        IAccess access = target(ofVault);
        vm.expectEmit(address(access));
        emit IAccess.ControllerTransferStarted(controller, next);
        vm.prank(controller);
        access.transferController(next);
        vm.assertEq(access.controller(), controller, "controller before acceptance");
        vm.assertEq(access.pendingController(), next, "pending");
        vm.expectEmit(address(access));
        emit IAccess.ControllerTransferred(controller, next);
        vm.prank(next);
        access.acceptController();
        vm.assertEq(access.controller(), next, "controller");
        vm.assertEq(access.pendingController(), address(0), "pending afterwards");
        vm.expectRevert(unauthorized(controller));
        vm.prank(controller);
        access.transferController(controller);
    }

    function test_reverts_whenSomeoneElseAccepts(bool ofVault, address next, address caller) public {
        vm.assume(caller != next);
        IAccess access = target(ofVault);
        vm.prank(controller);
        access.transferController(next);
        vm.expectRevert(unauthorized(caller));
        vm.prank(caller);
        access.acceptController();
    }

    function test_reverts_whenAnOfferWasWithdrawn(bool ofVault, address next) public {
        vm.assume(next != address(0));
        IAccess access = target(ofVault);
        vm.startPrank(controller);
        access.transferController(next);
        access.transferController(address(0));
        vm.stopPrank();
        vm.expectRevert(unauthorized(next));
        vm.prank(next);
        access.acceptController();
    }

    function test_reverts_whenAcceptedTwice(bool ofVault, address next) public {
        vm.assume(next != address(0));
        IAccess access = target(ofVault);
        vm.prank(controller);
        access.transferController(next);
        vm.startPrank(next);
        access.acceptController();
        vm.expectRevert(unauthorized(next));
        access.acceptController();
        vm.stopPrank();
    }

    /// @dev Every function that only the controller may call, by every role that is not the controller and by anyone else.
    function test_reverts_whenTheCallerIsNotTheController(address anyone) public {
        vm.assume(anyone != controller);
        address[5] memory callers = [guardian, signer, settler, feeRecipient, anyone];
        for (uint256 which = 0; which < 12; ++which) {
            (address to, bytes memory data) = controllerCall(which);
            for (uint256 i = 0; i < 5; ++i) {
                expectUnauthorized(callers[i], to, data);
            }
            expectLetThrough(controller, to, data);
        }
    }

    /// @dev Every function that takes away: guardian and controller may, nobody else.
    function test_reverts_whenTheCallerIsNeitherControllerNorGuardian(address anyone, bool byGuardian) public {
        vm.assume(anyone != controller && anyone != guardian);
        address[4] memory callers = [signer, settler, feeRecipient, anyone];
        for (uint256 which = 0; which < 6; ++which) {
            (address to, bytes memory data) = guardianCall(which);
            for (uint256 i = 0; i < 4; ++i) {
                expectUnauthorized(callers[i], to, data);
            }
            expectLetThrough(byGuardian ? guardian : controller, to, data);
        }
    }

    function test_reverts_whenAnAddressIsZero() public {
        bytes[6] memory calls = [
            abi.encodeCall(IAccess.setGuardian, (address(0))),
            abi.encodeCall(IAccess.setSettler, (address(0), true)),
            abi.encodeCall(IAccess.setSigner, (address(0), true)),
            abi.encodeCall(IPaymentGateway.setFeeRecipient, (address(0))),
            abi.encodeCall(IAccess.setSigner, (address(0), true)),
            abi.encodeCall(IPayoutVault.setCaps, (address(0), 1, 1, 1))
        ];
        for (uint256 which = 0; which < 6; ++which) {
            vm.prank(controller);
            (bool success, bytes memory answer) =
                callRaw(which < 4 ? address(gateway) : address(payoutVault), calls[which]);
            vm.assertEq(success, false, "zero was taken");
            vm.assertEq(bytes32(bytes4(answer)), bytes32(IAccess.ZeroAddress.selector), "reason");
        }
    }

    function test_reverts_whenTheFeeRecipientIsTheGateway() public {
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.WrongRecipient.selector, address(gateway)));
        vm.prank(controller);
        gateway.setFeeRecipient(address(gateway));
    }

    function test_setsTheGuardian(bool ofVault, address next) public {
        vm.assume(next != address(0) && next != controller && next != guardian);
        IAccess access = target(ofVault);
        vm.expectEmit(address(access));
        emit IAccess.GuardianSet(next);
        vm.prank(controller);
        access.setGuardian(next);
        vm.assertEq(access.guardian(), next, "guardian");
        vm.expectRevert(unauthorized(guardian));
        vm.prank(guardian);
        access.pause();
        vm.prank(next);
        access.pause();
    }

    function test_setsTheFeeRecipient(address next) public {
        vm.assume(next != address(0) && next != address(gateway));
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.FeeRecipientSet(next);
        vm.prank(controller);
        gateway.setFeeRecipient(next);
        vm.assertEq(gateway.feeRecipient(), next, "fee recipient");
    }

    function test_grantsAndRevokesSettlers(bool ofVault, address next) public {
        vm.assume(next != address(0));
        IAccess access = target(ofVault);
        vm.expectEmit(address(access));
        emit IAccess.SettlerSet(next, true);
        vm.prank(controller);
        access.setSettler(next, true);
        vm.assertEq(access.isSettler(next), true, "granted");
        vm.expectEmit(address(access));
        emit IAccess.SettlerSet(next, false);
        vm.prank(guardian);
        access.setSettler(next, false);
        vm.assertEq(access.isSettler(next), false, "revoked");
    }

    /// @dev Each signer comes and goes by itself, in any sequence of grants and revocations.
    function test_grantsAndRevokesSigners(uint256 seed, bool ofVault) public {
        address[3] memory signers = [signer, account("second signer"), account("third signer")];
        bool[3] memory allowed = [true, false, false];
        for (uint256 i = 0; i < 12; ++i) {
            uint256 which = pick(seed, i) % 3;
            allowed[which] = pick(seed, i) / 3 % 2 == 0;
            vm.prank(allowed[which] ? controller : guardian);
            if (ofVault) {
                vm.expectEmit(address(payoutVault));
                emit IAccess.SignerSet(signers[which], allowed[which]);
                payoutVault.setSigner(signers[which], allowed[which]);
            } else {
                vm.expectEmit(address(gateway));
                emit IAccess.SignerSet(signers[which], allowed[which]);
                gateway.setSigner(signers[which], allowed[which]);
            }
            for (uint256 j = 0; j < 3; ++j) {
                bool current = ofVault ? payoutVault.isSigner(signers[j]) : gateway.isSigner(signers[j]);
                vm.assertEq(current, allowed[j], "signer");
            }
            vm.assertEq(ofVault ? payoutVault.isSigner(address(0)) : gateway.isSigner(address(0)), false, "zero");
        }
    }

    function test_keepsSignersApartFromEachOther() public {
        address[3] memory signers = [address(1), address(0xf0f0), address(0x0ff0)];
        vm.startPrank(controller);
        for (uint256 i = 0; i < 3; ++i) {
            gateway.setSigner(signers[i], true);
        }
        vm.stopPrank();
        for (uint256 i = 0; i < 3; ++i) {
            vm.assertEq(gateway.isSigner(signers[i]), true, "each of them");
        }
        vm.assertEq(gateway.isSigner(address(0xfff0)), false, "the bits of two");
        vm.assertEq(gateway.isSigner(address(0xfff1)), false, "the bits of all");
        vm.assertEq(gateway.isSigner(address(0xff00)), false, "the bits that differ");
    }

    function test_pausesAndUnpauses(bool ofVault, bool byGuardian) public {
        IAccess access = target(ofVault);
        address by = byGuardian ? guardian : controller;
        vm.expectEmit(address(access));
        emit IAccess.Paused(by);
        vm.prank(by);
        access.pause();
        vm.assertEq(access.paused(), true, "paused");
        vm.assertEq(gateway.isSigner(signer), true, "the pause left the signer alone");
        vm.expectEmit(address(access));
        emit IAccess.Unpaused(controller);
        vm.prank(controller);
        access.unpause();
        vm.assertEq(access.paused(), false, "unpaused");
    }

    function test_reverts_whenPausedTwice(bool ofVault) public {
        IAccess access = target(ofVault);
        vm.startPrank(guardian);
        access.pause();
        expectError(IAccess.ContractPaused.selector);
        access.pause();
        vm.stopPrank();
    }

    function test_reverts_whenUnpausedWithoutAPause(bool ofVault) public {
        IAccess access = target(ofVault);
        expectError(IAccess.ContractNotPaused.selector);
        vm.prank(controller);
        access.unpause();
    }

    function target(bool ofVault) private view returns (IAccess) {
        return ofVault ? IAccess(payoutVault) : IAccess(gateway);
    }

    function expectUnauthorized(address caller, address to, bytes memory data) private {
        vm.prank(caller);
        (bool success, bytes memory answer) = callRaw(to, data);
        vm.assertEq(success, false, "it was let through");
        vm.assertEq(keccak256(answer), keccak256(unauthorized(caller)), "refused for another reason");
    }

    function expectLetThrough(address caller, address to, bytes memory data) private {
        vm.prank(caller);
        (bool success,) = callRaw(to, data);
        vm.assertEq(success, true, "controller or guardian was refused");
    }

    function controllerCall(uint256 which) private returns (address to, bytes memory data) {
        bytes[12] memory calls = [
            abi.encodeCall(IAccess.transferController, (stranger)),
            abi.encodeCall(IAccess.setGuardian, (guardian)),
            abi.encodeCall(IAccess.setSettler, (stranger, true)),
            abi.encodeCall(IAccess.unpause, ()),
            abi.encodeCall(IAccess.setSigner, (stranger, true)),
            abi.encodeCall(IPaymentGateway.setFeeRecipient, (stranger)),
            abi.encodeCall(IAccess.transferController, (stranger)),
            abi.encodeCall(IAccess.setGuardian, (guardian)),
            abi.encodeCall(IAccess.unpause, ()),
            abi.encodeCall(IAccess.setSigner, (stranger, true)),
            abi.encodeCall(IPayoutVault.setCaps, (address(usdc), 1, 2, 3)),
            abi.encodeCall(IPayoutVault.withdraw, (address(usdc), stranger, 0))
        ];
        to = which < 6 ? address(gateway) : address(payoutVault);
        data = calls[which];
        if (bytes4(data) == IAccess.unpause.selector) {
            vm.prank(guardian);
            IAccess(to).pause();
        }
    }

    function guardianCall(uint256 which) private view returns (address to, bytes memory data) {
        bytes[6] memory calls = [
            abi.encodeCall(IAccess.pause, ()),
            abi.encodeCall(IAccess.setSettler, (settler, false)),
            abi.encodeCall(IAccess.setSigner, (signer, false)),
            abi.encodeCall(IAccess.pause, ()),
            abi.encodeCall(IAccess.setSettler, (settler, false)),
            abi.encodeCall(IAccess.setSigner, (signer, false))
        ];
        return (which < 3 ? address(gateway) : address(payoutVault), calls[which]);
    }
}
