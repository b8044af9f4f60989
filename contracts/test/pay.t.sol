// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";
import {Wallet} from "./hostile/wallets.sol";

contract PayTest is GatewayTest {
    function test_takesExactlyTheTotalIntoEscrow(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, heldType(which));
        bytes32 orderId = pay(order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
        vm.assertEq(balance(order.token, merchant), 0, "merchant");
        vm.assertEq(gateway.accruedFees(order.token), 0, "a fee accrues at settlement");
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(order.metaData);
        vm.assertEq(status, PAID, "status");
        vm.assertEq(paidAt, block.timestamp, "paid at");
        vm.assertEq(id, uint256(orderId) >> 48, "id");
    }

    // proves W4.22
    function test_paysMerchantAndFeeAtOnceWhenDirect(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        pay(order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, address(gateway)), 0, "residue");
        vm.assertEq(balance(order.token, merchant), netOf(order), "merchant");
        vm.assertEq(balance(order.token, feeRecipient), order.fee, "fee recipient");
        vm.assertEq(gateway.accruedFees(order.token), 0, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_emitsPaid(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, heldType(which));
        fund(order);
        bytes memory signature = sign(order);
        expectPaid(order);
        payAs(payer, order, signature);
    }

    function test_emitsPaidAloneWhenDirect(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        fund(order);
        bytes memory signature = sign(order);
        expectPaid(order);
        vm.recordLogs();
        payAs(payer, order, signature);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 own;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(gateway)) ++own;
        }
        vm.assertEq(own, 1, "events of the gateway");
    }

    function test_paysInEveryLocalToken(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = [address(usdc), address(usdt), address(dai)][which % 3];
        pay(order);
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
    }

    function test_paysFromAWalletContract(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        Wallet wallet = new Wallet();
        order.payer = address(wallet);
        fund(order);
        wallet.execute(address(gateway), abi.encodeCall(IPaymentGateway.pay, (order, sign(order))));
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_paysFromADelegatedAccount(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.signAndAttachDelegation(address(new Wallet()), keyOf("payer"));
        Wallet(payer).execute(address(gateway), abi.encodeCall(IPaymentGateway.pay, (order, sign(order))));
        vm.assertEq(payer.code.length, 23, "delegation");
        vm.assertEq(statusOf(order), PAID, "status");
    }

    // proves W4.14
    function test_paysAtTheLastSecond(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        vm.warp(order.payBy);
        pay(order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_reverts_whenTheDeadlineHasPassed(uint256 seed, uint256 late) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.warp(order.payBy + bound(late, 1, 365 days));
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.PaymentDeadlinePassed.selector, order.payBy)
        );
    }

    function test_reverts_whenPaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.prank(guardian);
        gateway.pause();
        expectRefused(order, sign(order), abi.encodeWithSelector(IAccess.ContractPaused.selector));
        vm.prank(controller);
        gateway.unpause();
        payAs(payer, order, sign(order));
        vm.assertEq(statusOf(order), PAID, "status after the pause");
    }

    function test_reverts_whenTheCallerIsNotThePayer(uint256 seed, address caller) public {
        vm.assume(caller != payer);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, caller, payer));
        payAs(caller, order, signature);
    }

    function test_reverts_whenThePayerIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payer = address(0);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, payer, address(0)));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheMetaDataIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.metaData = bytes32(0);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, bytes32(0)));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheOrderWasPaid(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        pay(order);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, order.metaData));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheOrderIsFinal(uint256 seed, uint8 ending) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        if (ending % 3 == 0) {
            settleOne(order);
        } else if (ending % 3 == 1) {
            vm.prank(settler);
            gateway.refund(order);
        } else {
            uint256 payBy = order.payBy;
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
            // Only the key stands in the way, not the time.
            vm.warp(payBy);
        }
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, order.metaData));
        payAs(payer, order, signature);
    }

    // proves W4.15
    function test_reverts_whenAnotherOrderOfTheSessionWasPaid(uint256 seed, uint256 otherSeed, uint8 types) public {
        IPaymentGateway.Order memory first = anyOrderOf(seed, types % ORDER_TYPES);
        IPaymentGateway.Order memory second = anyOrderOf(otherSeed, types / ORDER_TYPES % ORDER_TYPES);
        second.metaData = first.metaData;
        second.payer = stranger;
        pay(first);
        fund(second);
        bytes memory signature = sign(second);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, first.metaData));
        payAs(stranger, second, signature);
        vm.assertEq(statusOf(second), UNKNOWN, "the loser has no status");
    }

    /// @dev Any type whose money stays here until it is settled.
    function heldType(uint8 which) private pure returns (uint8) {
        return [ESCROW, VAULT_PAYOUT, CCTP][which % 3];
    }
}
