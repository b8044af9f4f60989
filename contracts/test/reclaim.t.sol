// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract ReclaimTest is GatewayTest {
    /// @dev Whoever calls: a refund address, such as an exchange's, often cannot.
    function test_returnsTheTotalToThePayerWhoeverCalls(uint256 seed, bool toVault, uint32 later, address caller)
        public
    {
        IPaymentGateway.Order memory order = anyOrderOf(seed, toVault ? VAULT_PAYOUT : ESCROW);
        pay(order);
        vm.warp(uint256(order.reclaimAt) + later);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Reclaimed(digestOf(order), payer, order.token, order.total, order.metaData);
        reclaimAs(caller, order);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
        vm.assertEq(balance(order.token, address(gateway)), 0, "gateway");
        vm.assertEq(gateway.accruedFees(order.token), 0, "no fee on a reclaim");
        vm.assertEq(statusOf(order), RECLAIMED, "status");
    }

    function test_reclaimsAtTheFirstSecond(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(order.reclaimAt);
        reclaimAs(payer, order);
        vm.assertEq(statusOf(order), RECLAIMED, "status");
    }

    function test_reverts_whenItIsTooEarly(uint256 seed, uint256 early) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(order.reclaimAt - bound(early, 1, order.reclaimAt - START));
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.ReclaimTooEarly.selector, order.reclaimAt));
        reclaimAs(early % 2 == 0 ? payer : settler, order);
    }

    /// @dev With the whole service gone: paused, and every key revoked.
    function test_reclaimsWhenTheOperatorHasVanished(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.startPrank(guardian);
        gateway.pause();
        gateway.setSigner(signer, false);
        gateway.setSettler(settler, false);
        vm.stopPrank();
        vm.warp(order.reclaimAt);
        reclaimAs(payer, order);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    /// @dev Money of a deposit goes to the refund address, whoever made the transfers and whoever calls.
    function test_returnsADepositToItsRefundAddress(uint256 seed, uint8 which) public {
        address[7] memory callers = [controller, guardian, signer, settler, merchant, feeRecipient, stranger];
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payer = address(0xE0C0A9E);
        give(order.token, gateway.receiverOf(digestOf(order)), order.total);
        gateway.collect(order, sign(order));
        vm.warp(order.reclaimAt);
        reclaimAs(callers[which % 7], order);
        vm.assertEq(balance(order.token, order.payer), order.total, "refund address");
    }

    /// @dev The thief names himself payer, or brings the deadline forward: the hash no longer fits.
    function test_reverts_whenTheOrderIsAltered(uint256 seed, bool payerField) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        address thief = payerField ? stranger : payer;
        if (payerField) vm.warp(order.reclaimAt);
        if (payerField) order.payer = stranger;
        else order.reclaimAt = 0;
        vm.expectRevert(notOpen(order, UNKNOWN));
        reclaimAs(thief, order);
    }

    function test_reverts_whenTheOrderIsUnknown(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        vm.warp(order.reclaimAt);
        vm.expectRevert(notOpen(order, UNKNOWN));
        reclaimAs(payer, order);
    }

    function test_reverts_whenTheOrderIsFinal(uint256 seed, uint8 ending) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, ending % 4 == 3 ? DIRECT : ESCROW);
        pay(order);
        if (ending % 4 == 0) settleOne(order);
        vm.warp(order.reclaimAt);
        if (ending % 4 == 1) {
            vm.prank(settler);
            gateway.refund(order);
        }
        if (ending % 4 == 2) reclaimAs(payer, order);
        // What a second return would take.
        give(order.token, address(gateway), order.total);
        uint8[4] memory statuses = [SETTLED, REFUNDED, RECLAIMED, SETTLED];
        vm.expectRevert(notOpen(order, statuses[ending % 4]));
        reclaimAs(payer, order);
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        pay(order);
        vm.warp(order.reclaimAt);
        vm.prank(minter);
        usdc.blacklist(payer);
        vm.expectRevert(transferFailed(address(usdc)));
        reclaimAs(payer, order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function reclaimAs(address caller, IPaymentGateway.Order memory order) private {
        vm.prank(caller);
        gateway.reclaim(order);
    }

    function notOpen(IPaymentGateway.Order memory order, uint8 status) private view returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.OrderNotOpen.selector, digestOf(order), status);
    }
}
