// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract WithdrawFeesTest is GatewayTest {
    function test_sendsAllButOneUnitToTheFeeRecipient(uint256 seed, address caller) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.FeesWithdrawn(order.token, feeRecipient, order.fee - 1);
        vm.prank(caller);
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, feeRecipient), order.fee - 1, "fee recipient");
        vm.assertEq(balance(order.token, address(gateway)), 1, "gateway");
        vm.assertEq(gateway.accruedFees(order.token), 1, "accrued");
    }

    function test_sendsTheNextFeesInFull(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        gateway.withdrawFees(order.token);
        order.metaData = keccak256("next");
        pay(order);
        settleOne(order);
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, feeRecipient), 2 * order.fee - 1, "fee recipient");
        vm.assertEq(balance(order.token, address(gateway)), 1, "gateway");
    }

    function test_sendsToTheRecipientOfTheHour(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        vm.prank(controller);
        gateway.setFeeRecipient(stranger);
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, stranger), order.fee - 1, "new recipient");
    }

    function test_leavesOpenOrdersAndOtherTokensAlone(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        IPaymentGateway.Order memory open = anyOrder(~seed);
        open.token = order.token;
        pay(open);
        IPaymentGateway.Order memory other = anyOrder(pick(seed, 99));
        other.token = address(dai);
        pay(other);
        settleOne(other);
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, address(gateway)), open.total + 1, "open order and dust");
        vm.assertEq(gateway.accruedFees(address(dai)), other.fee, "other token");
        settleOne(open);
        vm.assertEq(gateway.accruedFees(order.token), open.fee + 1, "accrued");
    }

    function test_withdrawsWhilePaused(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        vm.prank(guardian);
        gateway.pause();
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, feeRecipient), order.fee - 1, "fee recipient");
    }

    function test_reverts_whenOnlyDustHasAccrued(uint256 seed, bool one) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payment = order.total = order.payment + 1;
        order.fee = one ? 1 : 0;
        pay(order);
        settleOne(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NothingToWithdraw.selector, order.token));
        gateway.withdrawFees(order.token);
    }

    function test_reverts_whenTheFeesWereWithdrawn(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        gateway.withdrawFees(order.token);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NothingToWithdraw.selector, order.token));
        gateway.withdrawFees(order.token);
    }

    function test_reverts_whenTheTokenRefuses(uint256 seed) public {
        IPaymentGateway.Order memory order = settledOrder(seed, 2);
        if (order.token != address(usdc)) return;
        vm.prank(minter);
        usdc.blacklist(feeRecipient);
        vm.expectRevert(transferFailed(address(usdc)));
        gateway.withdrawFees(address(usdc));
        vm.assertEq(gateway.accruedFees(address(usdc)), order.fee, "accrued");
    }

    function settledOrder(uint256 seed, uint256 leastFee) private returns (IPaymentGateway.Order memory order) {
        order = anyOrder(seed);
        order.fee = bound(order.fee, leastFee, MAX_TOTAL / 4);
        order.total = order.payment + order.fee;
        pay(order);
        settleOne(order);
    }
}
