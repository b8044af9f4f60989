// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {IPermit2} from "../src/interfaces/IPermit2.sol";
import {SignedTransfer} from "../src/libraries/SignedTransfer.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {KeyedWallet} from "./hostile/wallets.sol";

contract PayWithPermit2Test is SigningTest {
    function test_paysInEveryToken(uint256 seed, uint256 nonce, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = [address(usdc), address(usdt), address(dai), address(realUsdc)][which % 4];
        fundFor(Way.Permit2, order);
        vm.prank(stranger);
        gateway.payWithPermit2(order, sign(order), nonce, permit2(order, nonce));
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_paysFromAnEip1271Wallet(uint256 seed, uint256 nonce, uint8 extra) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.payer = address(new KeyedWallet(vm.addr(keyOf("owner"))));
        fundFor(Way.Permit2, order);
        bytes memory permit =
            abi.encodePacked(signDigest(keyOf("owner"), permit2Digest(order, nonce)), new bytes(extra % 64));
        gateway.payWithPermit2(order, sign(order), nonce, permit);
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenSignedForAnotherOrder(uint256 seed, uint256 otherSeed, uint256 nonce) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        IPaymentGateway.Order memory other = anySignedOrder(otherSeed);
        vm.assume(digestOf(other) != digestOf(order));
        (other.token, other.total, other.payBy) = (order.token, order.total, order.payBy);
        fundFor(Way.Permit2, order);
        expectFailed(order, nonce, permit2(other, nonce));
    }

    function test_reverts_whenAnyTermOfThePermitDiffers(uint256 seed, uint256 nonce, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Permit2, order);
        IPaymentGateway.Order memory other = anySignedOrder(seed);
        uint256 signedNonce = nonce;
        if (which % 4 == 0) other.total += 1;
        if (which % 4 == 1) other.payBy += 1;
        if (which % 4 == 2) other.token = address(dai);
        if (which % 4 == 3) signedNonce = nonce ^ 1;
        expectFailed(order, nonce, permit2(other, signedNonce));
    }

    function test_reverts_whenAnyBitIsFlipped(uint256 seed, uint256 nonce, uint16 bit) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Permit2, order);
        bytes memory permit = permit2(order, nonce);
        uint256 place = bit % (65 * 8);
        permit[place / 8] = bytes1(uint8(permit[place / 8]) ^ uint8(1 << (7 - place % 8)));
        expectFailed(order, nonce, permit);
    }

    function test_reverts_whenTheNonceIsUsed(uint256 seed, uint256 nonce) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Permit2, order);
        gateway.payWithPermit2(order, sign(order), nonce, permit2(order, nonce));
        order.metaData = keccak256("another session");
        fundFor(Way.Permit2, order);
        expectFailed(order, nonce, permit2(order, nonce));
    }

    /// @dev The spender in the signed message is whoever calls Permit2, so nobody but the gateway can bring it there.
    function test_reverts_whenSomebodyTakesItToPermit2(uint256 seed, uint256 nonce) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Permit2, order);
        bytes memory permit = permit2(order, nonce);
        bytes memory data = abi.encodeCall(
            IPermit2.permitWitnessTransferFrom,
            (
                IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(order.token, order.total), nonce, order.payBy),
                IPermit2.SignatureTransferDetails(stranger, order.total),
                payer,
                keccak256(abi.encode(keccak256(bytes(ORDER_TYPE)), order)),
                string.concat("Order witness)", ORDER_TYPE, "TokenPermissions(address token,uint256 amount)"),
                permit
            )
        );
        vm.prank(stranger);
        (bool success,) = callRaw(PERMIT2, data);
        vm.assertEq(success, false, "a stranger spent it");
        // The gateway's own call with the same words goes through.
        data = abi.encodeCall(
            IPermit2.permitWitnessTransferFrom,
            (
                IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(order.token, order.total), nonce, order.payBy),
                IPermit2.SignatureTransferDetails(address(gateway), order.total),
                payer,
                keccak256(abi.encode(keccak256(bytes(ORDER_TYPE)), order)),
                string.concat("Order witness)", ORDER_TYPE, "TokenPermissions(address token,uint256 amount)"),
                permit
            )
        );
        vm.prank(address(gateway));
        (success,) = callRaw(PERMIT2, data);
        vm.assertEq(success, true, "the words are right");
    }

    function test_reverts_whenPermit2DoesNotStandHere(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Permit2, order);
        bytes memory permit = permit2(order, 0);
        vm.etch(PERMIT2, "");
        expectFailed(order, 0, permit);
    }

    function test_reverts_whenTheTokenDoesNotDeliverExactly(uint256 seed, uint8 which, bool direct) public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        fundFor(Way.Permit2, order);
        token.mint(address(gateway), 5_000);
        HostileToken.Mode[3] memory modes =
            [HostileToken.Mode.TakesFee, HostileToken.Mode.LiesAboutMoving, HostileToken.Mode.DeliversTooMuch];
        token.set(modes[which % 3], which % 2 == 0 ? address(0) : address(gateway));
        bytes memory data = abi.encodeCall(IPaymentGateway.payWithPermit2, (order, sign(order), 0, permit2(order, 0)));
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(bytes32(bytes4(answer)), bytes32(TokenTransfer.InexactTransfer.selector), "reason");
        vm.assertEq(token.balanceOf(address(gateway)), 5_000, "others' money");
    }

    function expectFailed(IPaymentGateway.Order memory order, uint256 nonce, bytes memory permit) private {
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(SignedTransfer.Permit2Failed.selector));
        gateway.payWithPermit2(order, signature, nonce, permit);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
        vm.assertEq(balance(order.token, order.payer), order.total, "payer");
    }
}
