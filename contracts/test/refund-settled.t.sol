// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract RefundSettledTest is SigningTest {
    function test_paysThePayerBackInPartsUpToTheTotal(uint256 seed, uint8 wayOf, uint256 amount) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(anyWay(wayOf), order);
        uint256 merchantBefore = balance(order.token, merchant);
        amount = bound(amount, 1, order.total);
        uint256 held = balance(order.token, address(gateway));
        fundFrom(merchant, order);
        refundAs(merchant, order, amount);
        vm.assertEq(gateway.refundedOf(digestOf(order)), amount, "refunded");
        if (amount < order.total) {
            refundAs(merchant, order, order.total - amount);
        }
        vm.assertEq(balance(order.token, payer), order.total, "payer");
        vm.assertEq(balance(order.token, merchant), merchantBefore, "merchant");
        vm.assertEq(balance(order.token, address(gateway)), held, "gateway");
        vm.assertEq(gateway.refundedOf(digestOf(order)), order.total, "refunded in all");
        vm.assertEq(statusOf(order), SETTLED, "status");
        fundFrom(merchant, order);
        expectWrong(merchant, order, 1, 0);
    }

    function test_tellsTheSumSoFar(uint256 seed, uint256 first) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.total, order.payment) = (1_000_000, 1_000_000);
        order.fee = 1_000;
        settled(Way.Allowance, order);
        fundFrom(merchant, order);
        first = bound(first, 1, order.total - 1);
        refundAs(merchant, order, first);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.SettlementRefunded(
            digestOf(order), payer, merchant, order.token, order.total - first, order.total, order.metaData
        );
        refundAs(merchant, order, order.total - first);
    }

    /// @dev A stranger's single unit in front of it changes nothing: the merchant's refund still goes.
    function test_takesWhatRemainsWhenAskedForMore(uint256 seed, uint256 first, uint256 asked) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.total, order.payment, order.fee) = (1_000_000, 1_000_000, 1_000);
        settled(Way.Allowance, order);
        first = bound(first, 1, order.total - 1);
        asked = bound(asked, order.total, type(uint256).max);
        fundFrom(stranger, order);
        refundAs(stranger, order, first);
        fundFrom(merchant, order);
        uint256 held = balance(order.token, merchant);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.SettlementRefunded(
            digestOf(order), payer, merchant, order.token, order.total - first, order.total, order.metaData
        );
        refundAs(merchant, order, asked);
        vm.assertEq(balance(order.token, merchant), held - (order.total - first), "merchant");
        vm.assertEq(balance(order.token, payer), order.total, "payer");
        vm.assertEq(gateway.refundedOf(digestOf(order)), order.total, "refunded");
        expectWrong(merchant, order, asked, 0);
    }

    /// @dev A payer can refund themselves from a second wallet. The chain says whose money it was.
    function test_namesWhoPaid(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        fundFrom(stranger, order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.SettlementRefunded(
            digestOf(order), payer, stranger, order.token, order.total, order.total, order.metaData
        );
        refundAs(stranger, order, order.total);
    }

    function test_anyoneWithTheMoneyMayRefundWhilePaused(uint256 seed, address caller) public {
        vm.assume(caller != address(0) && caller != payer && uint160(caller) > 0xffff && caller.code.length == 0);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        vm.prank(guardian);
        gateway.pause();
        fundFrom(caller, order);
        refundAs(caller, order, order.total);
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_reverts_whenTheOrderIsNotSettled(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.orderType, order.targetChain, order.via) = (ESCROW, uint64(block.chainid), address(0));
        uint8 status = [UNKNOWN, PAID, REFUNDED, RECLAIMED][which % 4];
        if (status != UNKNOWN) pay(order);
        if (status == REFUNDED) {
            vm.prank(settler);
            gateway.refund(order);
        }
        if (status == RECLAIMED) {
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
        }
        fundFrom(merchant, order);
        bytes memory reason = abi.encodeWithSelector(IPaymentGateway.OrderNotSettled.selector, digestOf(order), status);
        vm.expectRevert(reason);
        refundAs(merchant, order, 1);
    }

    function test_reverts_whenAnotherOrderHoldsTheKey(uint256 seed, uint256 otherSeed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        IPaymentGateway.Order memory other = anySignedOrder(otherSeed);
        vm.assume(digestOf(other) != digestOf(order));
        other.metaData = order.metaData;
        other.payer = stranger;
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.OrderNotSettled.selector, digestOf(other), UNKNOWN));
        refundAs(merchant, other, 1);
    }

    function test_reverts_whenTheAmountIsZeroOrNothingRemains(uint256 seed, uint256 refunded, uint256 amount) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        fundFrom(merchant, order);
        fundFrom(merchant, order);
        refunded = bound(refunded, 0, order.total);
        if (refunded != 0) refundAs(merchant, order, refunded);
        uint256 remaining = order.total - refunded;
        expectWrong(merchant, order, 0, remaining);
        if (remaining != 0) refundAs(merchant, order, remaining);
        expectWrong(merchant, order, 0, 0);
        expectWrong(merchant, order, bound(amount, 1, type(uint256).max), 0);
    }

    function test_reverts_whenTheMoneyIsShort(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        fundFrom(stranger, order);
        vm.prank(stranger);
        (bool moved,) = order.token.call(abi.encodeWithSignature("transfer(address,uint256)", vault, 1));
        vm.assertEq(moved, true, "moved");
        vm.expectRevert(transferFailed(order.token));
        refundAs(stranger, order, order.total);
        vm.assertEq(gateway.refundedOf(digestOf(order)), 0, "refunded");
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(usdc);
        settled(Way.Allowance, order);
        fundFrom(merchant, order);
        vm.prank(minter);
        usdc.blacklist(payer);
        vm.expectRevert(transferFailed(address(usdc)));
        refundAs(merchant, order, 1);
    }

    /// @dev Otherwise a payer could use the merchant's cap up with money that only goes round.
    function test_reverts_whenThePayerRefundsThemselves(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        settled(Way.Allowance, order);
        fundFrom(payer, order);
        vm.expectRevert(abi.encodeWithSelector(TokenTransfer.InexactTransfer.selector, order.token, order.total, 0));
        refundAs(payer, order, order.total);
    }

    function test_reverts_whenTheTokenTakesAFee(uint256 seed) public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        payAndSettle(order);
        fundFrom(merchant, order);
        token.set(HostileToken.Mode.TakesFee, address(0));
        vm.expectRevert(abi.encodeWithSelector(TokenTransfer.InexactTransfer.selector, address(token), 1_000, 989));
        refundAs(merchant, order, 1_000);
        vm.assertEq(gateway.refundedOf(digestOf(order)), 0, "refunded");
    }

    function settled(Way way, IPaymentGateway.Order memory order) private {
        payBy(way, order);
        if (order.orderType != DIRECT) settleAs(settler, order);
        vm.assertEq(statusOf(order), SETTLED, "settled");
    }

    function fundFrom(address from, IPaymentGateway.Order memory order) private {
        give(order.token, from, order.total);
        allow(order.token, from, order.total);
    }

    function refundAs(address caller, IPaymentGateway.Order memory order, uint256 amount) private {
        vm.prank(caller);
        gateway.refundSettled(order, amount);
    }

    function expectWrong(address caller, IPaymentGateway.Order memory order, uint256 amount, uint256 remaining)
        private
    {
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.WrongRefund.selector, amount, remaining));
        refundAs(caller, order, amount);
    }
}
