// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract RefundTest is GatewayTest {
    function test_returnsTheTotalToThePayer(uint256 seed, bool toVault) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, toVault ? VAULT_PAYOUT : ESCROW);
        pay(order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Refunded(digestOf(order), payer, order.token, order.total, order.metaData);
        refundAs(settler, order);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
        vm.assertEq(balance(order.token, address(gateway)), 0, "gateway");
        vm.assertEq(gateway.accruedFees(order.token), 0, "no fee on a refund");
        vm.assertEq(statusOf(order), REFUNDED, "status");
        (, uint40 paidAt,) = gateway.statusOf(order.metaData);
        vm.assertEq(paidAt, START, "paid at");
    }

    function test_refundsWhilePaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.prank(guardian);
        gateway.pause();
        refundAs(settler, order);
        vm.assertEq(statusOf(order), REFUNDED, "status");
    }

    function test_reverts_whenTheCallerIsNotASettler(uint256 seed, address caller) public {
        vm.assume(caller != settler && caller != address(this));
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.expectRevert(unauthorized(caller));
        refundAs(caller, order);
    }

    function test_reverts_whenTheCallerHasAnotherRole(uint256 seed, uint8 which) public {
        address[6] memory others = [controller, guardian, signer, payer, merchant, feeRecipient];
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.expectRevert(unauthorized(others[which % 6]));
        refundAs(others[which % 6], order);
    }

    function test_reverts_whenTheSettlerIsRevoked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.prank(guardian);
        gateway.setSettler(settler, false);
        vm.expectRevert(unauthorized(settler));
        refundAs(settler, order);
    }

    function test_reverts_whenTheOrderIsUnknown(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        vm.expectRevert(notOpen(order, UNKNOWN));
        refundAs(settler, order);
    }

    function test_reverts_whenAnotherOrderOfTheSessionWasPaid(uint256 seed, uint256 otherSeed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        IPaymentGateway.Order memory other = anyOrder(otherSeed);
        other.metaData = order.metaData;
        other.payer = stranger;
        vm.expectRevert(notOpen(other, UNKNOWN));
        refundAs(settler, other);
    }

    function test_reverts_whenTheOrderIsFinal(uint256 seed, uint8 ending) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, ending % 4 == 3 ? DIRECT : ESCROW);
        pay(order);
        if (ending % 4 == 0) settleOne(order);
        if (ending % 4 == 1) refundAs(settler, order);
        if (ending % 4 == 2) {
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
        }
        // What a second refund would take.
        give(order.token, address(gateway), order.total);
        uint8[4] memory statuses = [SETTLED, REFUNDED, RECLAIMED, SETTLED];
        vm.expectRevert(notOpen(order, statuses[ending % 4]));
        refundAs(settler, order);
    }

    function test_reverts_whenTheMetaDataIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.metaData = bytes32(0);
        vm.expectRevert(notOpen(order, UNKNOWN));
        refundAs(settler, order);
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        pay(order);
        vm.prank(minter);
        usdc.blacklist(payer);
        vm.expectRevert(transferFailed(address(usdc)));
        refundAs(settler, order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function refundAs(address caller, IPaymentGateway.Order memory order) private {
        vm.prank(caller);
        gateway.refund(order);
    }

    function notOpen(IPaymentGateway.Order memory order, uint8 status) private view returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.OrderNotOpen.selector, digestOf(order), status);
    }
}
