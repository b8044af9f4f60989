// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {Vm} from "./base/Vm.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {UpgradedUsdt} from "./hostile/UpgradedUsdt.sol";

contract SettleTransferTest is GatewayTest {
    function test_skips_whenTheRecipientIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderWithNet(seed);
        order.token = address(usdc);
        pay(order);
        bytes32 before = slotOf(order);
        vm.prank(minter);
        usdc.blacklist(merchant);
        expectSkipped(order, SKIP_TRANSFER);
        settleOne(order);
        vm.assertEq(slotOf(order), before, "the slot is as before");
        vm.assertEq(gateway.accruedFees(address(usdc)), 0, "accrued");
        vm.assertEq(balance(address(usdc), address(gateway)), order.total, "gateway");
        vm.prank(minter);
        usdc.unBlacklist(merchant);
        settleOne(order);
        vm.assertEq(balance(address(usdc), merchant), netOf(order), "merchant, later");
    }

    function test_skips_whenTheTokenIsPaused(uint256 seed, bool isUsdt) public {
        IPaymentGateway.Order memory order = anyOrderWithNet(seed);
        order.token = isUsdt ? address(usdt) : address(usdc);
        pay(order);
        vm.prank(minter);
        Pausable(order.token).pause();
        expectSkipped(order, SKIP_TRANSFER);
        settleOne(order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    /// @dev USDT's issuer can put another contract in its place. Until that one knows the balance, orders wait.
    function test_skips_whenUsdtsSuccessorDoesNotKnowTheBalance(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderWithNet(seed);
        order.token = address(usdt);
        pay(order);
        UpgradedUsdt successor = new UpgradedUsdt(address(usdt));
        vm.prank(minter);
        usdt.deprecate(address(successor));
        expectSkipped(order, SKIP_TRANSFER);
        settleOne(order);
        vm.assertEq(statusOf(order), PAID, "status");
        successor.take(address(gateway), order.total);
        settleOne(order);
        vm.assertEq(successor.balanceOf(merchant), netOf(order), "merchant");
        vm.assertEq(statusOf(order), SETTLED, "status, later");
    }

    function test_skips_whenTheTokenHasLostItsCode(uint256 seed) public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(seed);
        vm.etch(address(token), "");
        expectSkipped(order, SKIP_TRANSFER);
        settleOne(order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    /// @dev One merchant's failing transfer, whatever way it fails, leaves the others' money flowing.
    function test_skipsOnlyTheGroupThatFails(uint256 seed, uint8 mode, uint8 place) public {
        HostileToken.Mode[6] memory modes = [
            HostileToken.Mode.ReturnsFalse,
            HostileToken.Mode.ReturnsTwo,
            HostileToken.Mode.ReturnsOneByte,
            HostileToken.Mode.Reverts,
            HostileToken.Mode.RevertsWithBomb,
            HostileToken.Mode.BurnsGas
        ];
        HostileToken token = new HostileToken();
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](6);
        for (uint256 i = 0; i < 6; ++i) {
            orders[i] = anyOrderWithNet(pick(seed, i));
            orders[i].token = address(token);
            // Two neighbours for each of three merchants.
            orders[i].to = address(uint160(0x1000 + i / 2));
            pay(orders[i]);
        }
        uint256 victim = place % 3;
        token.set(modes[mode % 6], address(uint160(0x1000 + victim)));
        gateway.settle{gas: 2_000_000}(orders);
        uint256 open;
        uint256 fees;
        for (uint256 i = 0; i < 6; ++i) {
            bool failed = i / 2 == victim;
            vm.assertEq(statusOf(orders[i]), failed ? PAID : SETTLED, "status");
            if (failed) open += orders[i].total;
            else fees += orders[i].fee;
        }
        vm.assertEq(gateway.accruedFees(address(token)), fees, "accrued");
        vm.assertEq(token.balanceOf(address(gateway)), open + fees, "gateway");
        token.set(HostileToken.Mode.Honest, address(0));
        gateway.settle(orders);
        vm.assertEq(
            token.balanceOf(address(uint160(0x1000 + victim))),
            netOf(orders[2 * victim]) + netOf(orders[2 * victim + 1]),
            "the victim, later"
        );
    }

    /// @dev What a group skips for reasons of its own does not share the fate of its transfer.
    function test_leavesSkippedOrdersOfAFailingGroupAlone() public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](4);
        bytes32[4] memory slots;
        for (uint256 i = 0; i < 4; ++i) {
            orders[i] = plainOrder();
            orders[i].metaData = bytes32(i + 1);
            if (i != 2) pay(orders[i]);
        }
        settleOne(orders[1]);
        for (uint256 i = 0; i < 4; ++i) {
            slots[i] = slotOf(orders[i]);
        }
        vm.prank(minter);
        usdc.blacklist(merchant);
        vm.recordLogs();
        gateway.settle(orders);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint8[4] memory places = [1, 2, 0, 3];
        uint8[4] memory reasons = [SKIP_FINAL, SKIP_UNKNOWN, SKIP_TRANSFER, SKIP_TRANSFER];
        vm.assertEq(logs.length, 4, "one skip each");
        for (uint256 i = 0; i < 4; ++i) {
            vm.assertEq(logs[i].topics[0], IPaymentGateway.SettleSkipped.selector, "event");
            vm.assertEq(logs[i].topics[1], digestOf(orders[places[i]]), "order id");
            vm.assertEq(abi.decode(logs[i].data, (uint256)), reasons[i], "reason");
            vm.assertEq(slotOf(orders[i]), slots[i], "the slot is as before");
        }
        vm.assertEq(gateway.accruedFees(address(usdc)), orders[1].fee, "accrued");
    }

    /// @dev One zero byte, where the key of the order lies that is being settled: together they must not make true.
    function test_skips_whenTheTokenAnswersAZeroByte(bool second) public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(1);
        if (second) {
            order.metaData = bytes32(uint256(1));
            pay(order);
        }
        token.set(HostileToken.Mode.ReturnsZeroByte, address(0));
        expectSkipped(order, SKIP_TRANSFER);
        settleOne(order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_ignoresAHugeAnswer(uint256 seed) public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(seed);
        token.set(HostileToken.Mode.AnswersWithBomb, address(0));
        uint256 gasBefore = gasleft();
        settleOne(order);
        // The token may waste its own allotment; copying its answer would cost as much again.
        vm.assertLe(gasBefore - gasleft(), TokenTransfer.TRANSFER_GAS + 120_000, "gas");
    }

    /// @dev Whatever gas a caller gives, an honest transfer is never reported as failed.
    function test_reverts_whenATransferFailsForWantOfGas(uint256 seed, uint256 gasGiven) public {
        IPaymentGateway.Order memory order = anyOrderWithNet(seed);
        pay(order);
        gasGiven = bound(gasGiven, 30_000, 400_000);
        vm.recordLogs();
        (bool success, bytes memory answer) =
            address(gateway).call{gas: gasGiven}(abi.encodeCall(IPaymentGateway.settle, (only(order))));
        if (success) {
            vm.assertEq(statusOf(order), SETTLED, "an order was skipped for want of gas");
        } else {
            vm.assertEq(statusOf(order), PAID, "status");
            if (answer.length != 0) {
                vm.assertEq(bytes32(bytes4(answer)), bytes32(TokenTransfer.InsufficientGas.selector), "reason");
            }
        }
    }

    /// @dev A token that needs all of its allotment, at every gas from too little to enough.
    function test_reverts_whenTheTransferDoesNotGetItsWholeAllotment() public {
        (IPaymentGateway.Order memory order, HostileToken token) = paidHostile(1);
        vm.etch(address(token), gasGate(300_000, false));
        bytes memory data = abi.encodeCall(IPaymentGateway.settle, (only(order)));
        bool success;
        for (uint256 given = 290_000; !success; given += 300) {
            vm.assertLe(given, 400_000, "it never got it");
            (success,) = address(gateway).call{gas: given}(data);
            vm.assertEq(statusOf(order), success ? SETTLED : PAID, "an order was skipped for want of gas");
        }
    }

    function test_reverts_whenTheTransferHasLessThanItsAllotment() public {
        IPaymentGateway.Order memory order = anyOrderWithNet(1);
        order.token = address(usdc);
        pay(order);
        vm.prank(minter);
        usdc.blacklist(merchant);
        // The blocklist would refuse at any gas; below the allotment that must not count.
        (bool success, bytes memory answer) =
            address(gateway).call{gas: 250_000}(abi.encodeCall(IPaymentGateway.settle, (only(order))));
        vm.assertEq(success, false, "it counted");
        vm.assertEq(bytes32(bytes4(answer)), bytes32(TokenTransfer.InsufficientGas.selector), "reason");
        (success,) = address(gateway).call{gas: 400_000}(abi.encodeCall(IPaymentGateway.settle, (only(order))));
        vm.assertEq(success, true, "with enough it is a skip");
    }

    function paidHostile(uint256 seed) private returns (IPaymentGateway.Order memory order, HostileToken token) {
        token = new HostileToken();
        order = anyOrderWithNet(seed);
        order.token = address(token);
        pay(order);
    }
}

/// @notice What LocalUsdc and LocalUsdt have in common.
interface Pausable {
    function pause() external;
}
