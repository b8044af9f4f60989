// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {HostileRoute} from "./hostile/HostileRoute.sol";

contract SettleCctpTest is GatewayTest {
    function test_burnsExactlyTheNetAmount(uint256 seed) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        bytes32 orderId = pay(order);
        give(order.token, address(gateway), 7);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Settled(
            orderId, order.channelId, address(route), order.token, netOf(order), order.fee, order.metaData
        );
        settleAs(settler, order);
        vm.assertEq(route.sent(orderId, merchant, OTHER_CHAIN), netOf(order), "burned for the merchant");
        vm.assertEq(balance(order.token, route.NOBODY()), netOf(order), "burned");
        vm.assertEq(balance(order.token, address(gateway)), order.fee + 7, "gateway");
        vm.assertEq(gateway.accruedFees(order.token), order.fee, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
        expectNoAllowance(order);
    }

    function test_settlesAnOrderThatIsAllFeeWithoutTheRoute(uint256 seed) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        order.total = order.fee = order.payment;
        pay(order);
        route.set(HostileRoute.Mode.Reverts);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), SETTLED, "status");
        vm.assertEq(gateway.accruedFees(order.token), order.total, "accrued");
    }

    function test_burnsOneByOneBetweenOtherGroups(uint256 seed) public {
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](6);
        uint256 burned;
        uint256 fees;
        for (uint256 i = 0; i < 6; ++i) {
            orders[i] = i % 3 == 0 ? anyOrder(pick(seed, i)) : cctpOrder(pick(seed, i));
            orders[i].token = address(usdc);
            pay(orders[i]);
            if (i % 3 != 0) burned += netOf(orders[i]);
            fees += orders[i].fee;
        }
        vm.prank(settler);
        gateway.settle(orders);
        for (uint256 i = 0; i < 6; ++i) {
            vm.assertEq(statusOf(orders[i]), SETTLED, "status");
            if (i % 3 == 0) continue;
            vm.assertEq(route.sent(digestOf(orders[i]), merchant, OTHER_CHAIN), netOf(orders[i]), "burned");
        }
        vm.assertEq(balance(address(usdc), route.NOBODY()), burned, "burned in all");
        vm.assertEq(balance(address(usdc), merchant), netOf(orders[0]) + netOf(orders[3]), "merchant");
        vm.assertEq(gateway.accruedFees(address(usdc)), fees, "accrued");
    }

    function test_skipsOnlyWhatTheRouteRefuses(uint256 seed, uint8 which) public {
        HostileRoute.Mode[3] memory modes =
            [HostileRoute.Mode.Reverts, HostileRoute.Mode.RevertsWithBomb, HostileRoute.Mode.BurnsGas];
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        bytes32 before = slotOf(order);
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](3);
        (orders[0], orders[1], orders[2]) = (anyOrder(~seed), order, anyOrder(pick(seed, 1)));
        pay(orders[0]);
        pay(orders[2]);
        route.set(modes[which % 3]);
        expectSkipped(order, SKIP_ROUTE);
        vm.prank(settler);
        gateway.settle{gas: 3_000_000}(orders);
        vm.assertEq(slotOf(order), before, "the slot is as before");
        vm.assertEq(statusOf(orders[0]), SETTLED, "before it");
        vm.assertEq(statusOf(orders[2]), SETTLED, "after it");
        vm.assertEq(balance(order.token, route.NOBODY()), 0, "burned");
        expectNoAllowance(order);
        expectAccrued(order.token, orders[0], orders[2]);
        route.set(HostileRoute.Mode.Reverts);
        settleAs(settler, order);
        expectAccrued(order.token, orders[0], orders[2]);
        route.set(HostileRoute.Mode.Honest);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), SETTLED, "later");
    }

    function test_skips_whenTheTokenIsPaused(uint256 seed) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        order.token = address(usdc);
        pay(order);
        vm.prank(minter);
        usdc.pause();
        expectSkipped(order, SKIP_ROUTE);
        settleAs(settler, order);
        vm.assertEq(statusOf(order), PAID, "status");
        expectNoAllowance(order);
    }

    function test_canBeGivenBackWhenTheRouteRefuses(uint256 seed, bool byPayer) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        route.set(HostileRoute.Mode.Reverts);
        settleAs(settler, order);
        if (byPayer) {
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
        } else {
            vm.prank(settler);
            gateway.refund(order);
        }
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    /// @dev Whatever gas a caller gives, an honest burn is never reported as refused.
    function test_reverts_whenTheRouteFailsForWantOfGas(uint256 seed, uint256 gasGiven) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        gasGiven = bound(gasGiven, 60_000, 800_000);
        vm.prank(settler);
        (bool success,) = address(gateway).call{gas: gasGiven}(abi.encodeCall(IPaymentGateway.settle, (only(order))));
        vm.assertEq(statusOf(order), success ? SETTLED : PAID, "an order was skipped for want of gas");
        expectNoAllowance(order);
    }

    /// @dev A route that needs all of its allotment, at every gas from too little to enough. It takes nothing, so when it
    /// has got that the call reverts as well.
    function test_reverts_whenTheRouteDoesNotGetItsWholeAllotment() public {
        IPaymentGateway.Order memory order = cctpOrder(1);
        pay(order);
        vm.etch(address(route), gasGate(500_000, false));
        bytes memory data = abi.encodeCall(IPaymentGateway.settle, (only(order)));
        for (uint256 given = 480_000; given < 700_000; given += 500) {
            vm.prank(settler);
            (bool success,) = address(gateway).call{gas: given}(data);
            vm.assertEq(success, false, "an order was skipped for want of gas");
        }
        vm.expectRevert(inexact(order.token, netOf(order), 0));
        settleAs(settler, order);
    }

    /// @dev A burn through Circle's contracts needs 200,000. It takes nothing, so the call reverts instead of a skip.
    function test_givesTheRouteExactlyItsAllotment() public {
        IPaymentGateway.Order memory order = cctpOrder(1);
        pay(order);
        vm.etch(address(route), gasGate(500_000, true));
        vm.expectRevert(inexact(order.token, netOf(order), 0));
        settleAs(settler, order);
    }

    function test_reverts_whenTheRouteGives() public {
        IPaymentGateway.Order memory order = cctpOrder(1);
        order.token = address(usdc);
        pay(order);
        give(order.token, address(route), 1);
        route.set(HostileRoute.Mode.Gives);
        vm.expectRevert(inexact(order.token, netOf(order), 0));
        settleAs(settler, order);
    }

    function test_boundsTheGasOfTheRoute(uint256 seed) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        route.set(HostileRoute.Mode.BurnsGas);
        uint256 gasBefore = gasleft();
        settleAs(settler, order);
        vm.assertLe(gasBefore - gasleft(), 700_000, "gas");
    }

    function test_reverts_whenTheRouteTakesAnotherAmount(uint256 seed, bool nothing) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        route.set(nothing ? HostileRoute.Mode.TakesNothing : HostileRoute.Mode.TakesLess);
        vm.expectRevert(
            abi.encodeWithSelector(
                TokenTransfer.InexactTransfer.selector, order.token, netOf(order), nothing ? 0 : netOf(order) - 1
            )
        );
        settleAs(settler, order);
        vm.assertEq(statusOf(order), PAID, "status");
        expectNoAllowance(order);
    }

    /// Its answer is no revert, so what it took would stay taken, while its order would be as before and settle again.
    function test_aRouteThatTakesAndRefusesGetsNothingOfOtherOrders(uint256 seed, uint8 times) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        IPaymentGateway.Order memory other = anyOrder(~seed);
        other.token = order.token;
        pay(other);
        uint256 held = balance(order.token, address(gateway));
        route.set(HostileRoute.Mode.TakesAndRefuses);
        IPaymentGateway.Order[] memory orders = new IPaymentGateway.Order[](bound(times, 1, 4));
        for (uint256 i = 0; i < orders.length; ++i) {
            orders[i] = order;
        }
        vm.expectRevert(inexact(order.token, 0, netOf(order)));
        vm.prank(settler);
        gateway.settle(orders);
        vm.assertEq(statusOf(order), PAID, "status");
        vm.assertEq(statusOf(other), PAID, "status of the other");
        vm.assertEq(balance(order.token, address(gateway)), held, "held");
        expectNoAllowance(order);
    }

    function test_theRouteCannotReenter(uint256 seed, uint8 into) public {
        IPaymentGateway.Order memory order = cctpOrder(seed);
        pay(order);
        IPaymentGateway.Order memory other = anyOrder(~seed);
        pay(other);
        vm.prank(controller);
        gateway.setSettler(address(route), true);
        bytes[3] memory calls = [
            abi.encodeCall(IPaymentGateway.settle, (only(other))),
            abi.encodeCall(IPaymentGateway.refund, (other)),
            abi.encodeCall(IPaymentGateway.refund, (order))
        ];
        route.arm(address(gateway), calls[into % 3]);
        settleAs(settler, order);
        vm.assertEq(route.succeeded(), false, "reentered");
        vm.assertEq(bytes32(route.failure()), bytes32(IAccess.Reentered.selector), "reason");
        vm.assertEq(statusOf(order), SETTLED, "the outer call went through");
    }

    /// @dev What two settled orders have brought in a token.
    function expectAccrued(address token, IPaymentGateway.Order memory one, IPaymentGateway.Order memory other)
        private
        view
    {
        uint256 fees = (one.token == token ? one.fee : 0) + (other.token == token ? other.fee : 0);
        vm.assertEq(gateway.accruedFees(token), fees, "accrued");
    }

    /// @dev A CCTP order with something to burn.
    function cctpOrder(uint256 seed) private view returns (IPaymentGateway.Order memory order) {
        order = anyOrderOf(seed, CCTP);
        if (netOf(order) < 2) order.payment = order.total = order.fee + 2;
    }

    function expectNoAllowance(IPaymentGateway.Order memory order) private view {
        (bool success, bytes memory answer) = order.token
            .staticcall(abi.encodeWithSignature("allowance(address,address)", address(gateway), address(route)));
        vm.assertEq(success, true, "allowance");
        vm.assertEq(abi.decode(answer, (uint256)), 0, "an allowance stayed");
    }
}
