// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract ReclaimTest is GatewayTest {
    function test_returnsTheTotalToThePayer(uint256 seed, bool toVault, uint32 later) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, toVault ? VAULT_PAYOUT : ESCROW);
        pay(order);
        vm.warp(uint256(order.reclaimAt) + later);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Reclaimed(digestOf(order), payer, order.token, order.total, order.metaData);
        reclaimAs(payer, order);
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
        order.reclaimAt = uint64(START + 1 + bound(seed, 0, 60 days));
        pay(order);
        vm.warp(order.reclaimAt - bound(early, 1, order.reclaimAt - START));
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.ReclaimTooEarly.selector, order.reclaimAt));
        reclaimAs(payer, order);
    }

    /// @dev With the whole service gone: paused, and every key revoked.
    function test_reclaimsWhenTheOperatorHasVanished(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.startPrank(guardian);
        gateway.pause();
        gateway.setOrderSigner(signer, false);
        gateway.setSettler(settler, false);
        vm.stopPrank();
        vm.warp(order.reclaimAt);
        reclaimAs(payer, order);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_reverts_whenTheCallerIsNotThePayer(uint256 seed, address caller) public {
        vm.assume(caller != payer);
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(order.reclaimAt);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, caller, payer));
        reclaimAs(caller, order);
    }

    function test_reverts_whenTheCallerHasARole(uint256 seed, uint8 which) public {
        address[6] memory others = [admin, guardian, signer, settler, merchant, feeRecipient];
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        vm.warp(order.reclaimAt);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, others[which % 6], payer));
        reclaimAs(others[which % 6], order);
    }

    /// @dev The thief names himself payer, or brings the deadline forward: the hash no longer fits.
    function test_reverts_whenTheOrderIsAltered(uint256 seed, bool payerField) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.reclaimAt = uint64(START + 30 days);
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
        vm.warp(order.reclaimAt);
        if (ending % 4 == 0) settleOne(order);
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
