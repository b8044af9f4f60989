// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract SettleBatchTest is GatewayTest {
    uint256 private constant MAX_BATCH = 12;

    function test_sharesOneTransferBetweenNeighbours(uint256 seed, uint256 size) public {
        IPaymentGateway.Order[] memory orders = paidBatch(seed, bound(size, 1, MAX_BATCH));
        uint256 net;
        uint256 fees;
        for (uint256 i = 0; i < orders.length; ++i) {
            net += netOf(orders[i]);
            fees += orders[i].fee;
        }
        vm.recordLogs();
        gateway.settle(orders);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs.length, orders.length + 1, "one transfer, one Settled each");
        vm.assertEq(logs[0].topics[0], IERC20.Transfer.selector, "transfer");
        for (uint256 i = 0; i < orders.length; ++i) {
            vm.assertEq(logs[i + 1].topics[0], IPaymentGateway.Settled.selector, "event");
            vm.assertEq(logs[i + 1].topics[1], digestOf(orders[i]), "order id");
        }
        vm.assertEq(balance(address(usdc), merchant), net, "merchant");
        vm.assertEq(gateway.accruedFees(address(usdc)), fees, "accrued");
        vm.assertEq(balance(address(usdc), address(gateway)), fees, "gateway");
    }

    /// @dev Any mixture of tokens, merchants, types, duplicates, unpaid and final orders, in any order: each paid
    /// one is settled once, and nothing else happens.
    function test_settlesEveryPaidOrderOfAMixedBatchOnce(uint256 seed, uint256 size) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](bound(size, 0, MAX_BATCH));
        uint256[4] memory owed;
        for (uint256 i = 0; i < orders.length; ++i) {
            uint256 itemSeed = pick(seed, i);
            if (i != 0 && itemSeed % 5 == 0) {
                orders[i] = orders[itemSeed / 5 % i];
                continue;
            }
            orders[i] = anyOrderOf(itemSeed, [ESCROW, VAULT_PAYOUT, ESCROW, CCTP][itemSeed % 4]);
            if (itemSeed % 3 == 0) orders[i].to = stranger;
            if (itemSeed % 7 == 0) continue;
            pay(orders[i]);
            uint256 token = orders[i].token == address(usdt) ? 1 : 0;
            owed[token] += netOf(orders[i]);
            owed[2 + token] += orders[i].fee;
        }
        vm.prank(settler);
        gateway.settle(orders);
        address[2] memory tokens = [address(usdc), address(usdt)];
        for (uint256 token = 0; token < 2; ++token) {
            uint256 received = balance(tokens[token], merchant) + balance(tokens[token], stranger)
                + balance(tokens[token], vault) + balance(tokens[token], route.NOBODY());
            vm.assertEq(received, owed[token], "recipients");
            vm.assertEq(gateway.accruedFees(tokens[token]), owed[2 + token], "accrued");
            vm.assertEq(balance(tokens[token], address(gateway)), owed[2 + token], "gateway");
        }
    }

    function test_skips_whenTheOrderComesTwiceInOneBatch(uint256 seed) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](2);
        orders[0] = orders[1] = anyOrder(seed);
        pay(orders[0]);
        give(orders[0].token, address(gateway), orders[0].total);
        gateway.settle(orders);
        vm.assertEq(balance(orders[0].token, merchant), netOf(orders[0]), "merchant");
        vm.assertEq(gateway.accruedFees(orders[0].token), orders[0].fee, "accrued");
    }

    /// @dev A single unit is an amount like any other: alone and in a batch, as net and as fee.
    function test_settlesSingleUnits(uint256 seed, bool alone) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](2);
        for (uint256 i = 0; i < 2; ++i) {
            orders[i] = anyOrder(pick(seed, i));
            (orders[i].total, orders[i].payment, orders[i].fee) = (2, 2, 1);
            orders[i].token = i == 0 ? address(usdc) : address(usdt);
            pay(orders[i]);
            if (alone) settleOne(orders[i]);
        }
        if (!alone) gateway.settle(orders);
        for (uint256 i = 0; i < 2; ++i) {
            vm.assertEq(balance(orders[i].token, merchant), 1, "merchant");
            vm.assertEq(gateway.accruedFees(orders[i].token), 1, "accrued");
        }
    }

    function test_paysTheFirstAddressAsAnyOther(uint256 seed) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](2);
        for (uint256 i = 0; i < 2; ++i) {
            orders[i] = anyOrderWithNet(pick(seed, i));
            (orders[i].token, orders[i].to) = (address(usdc), address(1));
            pay(orders[i]);
        }
        gateway.settle(orders);
        vm.assertEq(balance(address(usdc), address(1)), netOf(orders[0]) + netOf(orders[1]), "recipient");
        vm.assertEq(gateway.accruedFees(address(usdc)), orders[0].fee + orders[1].fee, "accrued");
    }

    /// @dev Every id stays where it was put, however many skipped orders are between.
    function test_settlesTheFewPaidOrdersOfALongBatch() public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](160);
        for (uint256 i = 0; i < 160; ++i) {
            orders[i] = plainOrder();
            orders[i].metaData = bytes32(i + 1);
            if (i % 16 == 0) pay(orders[i]);
        }
        vm.recordLogs();
        gateway.settle(orders);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        vm.assertEq(logs.length, 150 + 1 + 10, "skips, one transfer, settled");
        for (uint256 i = 0; i < 10; ++i) {
            vm.assertEq(logs[151 + i].topics[0], IPaymentGateway.Settled.selector, "event");
            vm.assertEq(logs[151 + i].topics[1], digestOf(orders[16 * i]), "order id");
        }
        vm.assertEq(balance(address(usdc), merchant), 10 * 99e6, "merchant");
    }

    function test_doesNothingWithABatchOfUnknownOrders() public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](2);
        (orders[0], orders[1]) = (anyOrder(1), anyOrder(2));
        vm.recordLogs();
        gateway.settle(orders);
        vm.assertEq(vm.getRecordedLogs().length, 2, "skips");
        vm.assertEq(gateway.accruedFees(address(0)), 0, "accrued");
    }

    /// @dev Sums of absurd amounts in a worthless token cannot stop a batch.
    function test_settlesTotalsNearTheirLimit() public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](4);
        for (uint256 i = 0; i < 4; ++i) {
            orders[i] = plainOrder();
            orders[i].token = address(token);
            orders[i].metaData = bytes32(i + 1);
            (orders[i].total, orders[i].payment, orders[i].fee) = (MAX_TOTAL, MAX_TOTAL, MAX_TOTAL / 2);
            pay(orders[i]);
        }
        gateway.settle(orders);
        vm.assertEq(token.balanceOf(merchant), 4 * (MAX_TOTAL - MAX_TOTAL / 2), "merchant");
        vm.assertEq(gateway.accruedFees(address(token)), 4 * (MAX_TOTAL / 2), "accrued");
    }

    function test_doesNothingWithAnEmptyBatch() public {
        vm.recordLogs();
        gateway.settle(new IPaymentGateway.Order[](0));
        vm.assertEq(vm.getRecordedLogs().length, 0, "events");
    }

    function test_addsFeesOfReturningTokens(uint256 seed) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](5);
        uint256[2] memory fees;
        for (uint256 i = 0; i < 5; ++i) {
            orders[i] = anyOrder(pick(seed, i));
            orders[i].token = i % 2 == 0 ? address(usdc) : address(usdt);
            fees[i % 2] += orders[i].fee;
            pay(orders[i]);
        }
        gateway.settle(orders);
        vm.assertEq(gateway.accruedFees(address(usdc)), fees[0], "usdc");
        vm.assertEq(gateway.accruedFees(address(usdt)), fees[1], "usdt");
    }

    function paidBatch(uint256 seed, uint256 size) private returns (IPaymentGateway.Order[] memory orders) {
        orders = new IPaymentGateway.Order[](size);
        for (uint256 i = 0; i < size; ++i) {
            orders[i] = anyOrderWithNet(pick(seed, i));
            orders[i].token = address(usdc);
            pay(orders[i]);
        }
    }
}
