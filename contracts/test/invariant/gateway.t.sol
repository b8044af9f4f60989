// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {Test} from "../base/Test.sol";
import {GatewayHandler} from "./GatewayHandler.sol";

/// @notice Half a million actions in every run of the tests, in two campaigns for two processors. What is wrong once
/// stays wrong, because the books only ever add, so the rules are checked after every fiftieth action and each
/// sequence.
contract GatewayInvariants is Test {
    GatewayHandler internal handler;
    IPaymentGateway internal gateway;

    function setUp() public {
        handler = new GatewayHandler();
        gateway = handler.target();
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](20);
        // Named several times: done oftener.
        for (uint256 i = 0; i < 5; ++i) {
            selectors[i] = GatewayHandler.pay.selector;
        }
        (selectors[5], selectors[6]) = (GatewayHandler.settle.selector, GatewayHandler.settle.selector);
        selectors[7] = GatewayHandler.payAgain.selector;
        selectors[8] = GatewayHandler.refund.selector;
        selectors[9] = GatewayHandler.reclaim.selector;
        selectors[10] = GatewayHandler.withdrawFees.selector;
        selectors[11] = GatewayHandler.donate.selector;
        selectors[12] = GatewayHandler.togglePause.selector;
        selectors[13] = GatewayHandler.toggleSigner.selector;
        selectors[14] = GatewayHandler.toggleBlock.selector;
        selectors[15] = GatewayHandler.refundSettled.selector;
        selectors[16] = GatewayHandler.deposit.selector;
        selectors[17] = GatewayHandler.rescue.selector;
        selectors[18] = GatewayHandler.toggleRoute.selector;
        selectors[19] = GatewayHandler.toggleFeeRecipient.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev Solvent to the unit: open orders and accrued fees, and what was donated, which nothing can take. Direct
    /// payments leave nothing here, nor do those by deposit, authorization or Permit2.
    /// forge-config: deep.invariant.runs = 500
    /// forge-config: deep.invariant.depth = 500
    /// forge-config: deep.invariant.check_interval = 50
    function invariant_holdsWhatItOwes() public view {
        address[] memory tokens = handler.tokens();
        for (uint256 i = 0; i < tokens.length; ++i) {
            address token = tokens[i];
            uint256 owed = handler.open(token) + handler.fees(token) + handler.donated(token);
            vm.assertEq(IERC20(token).balanceOf(address(gateway)), owed, "balance of the gateway");
        }
    }

    /// @dev Refund, reclaim and rescue reach only the payer, settlement only the recipient, the vault or the burn, fees
    /// only the fee recipient: everyone has exactly what the books say.
    /// forge-config: deep.invariant.runs = 500
    /// forge-config: deep.invariant.depth = 500
    /// forge-config: deep.invariant.check_interval = 50
    function invariant_everyoneHasTheirOwn() public view {
        address[] memory tokens = handler.tokens();
        address[] memory parties = handler.parties();
        for (uint256 i = 0; i < tokens.length; ++i) {
            vm.assertEq(gateway.accruedFees(tokens[i]), handler.fees(tokens[i]), "accrued fees");
            for (uint256 j = 0; j < parties.length; ++j) {
                vm.assertEq(IERC20(tokens[i]).balanceOf(parties[j]), handler.expected(tokens[i], parties[j]), "balance");
            }
        }
    }

    /// @dev After each sequence.
    function afterInvariant() public view {
        everyOrderIsWhereTheBooksHaveIt();
        (uint8 status,, uint208 id) = gateway.statusOf(bytes32(0));
        vm.assertEq(status, 255, "the zero key stays unusable");
        vm.assertEq(id, 0, "the zero key has no id");
    }

    /// @dev The books know one way only: an order has at most one terminal status, and refunds end at its total.
    function everyOrderIsWhereTheBooksHaveIt() private view {
        for (uint256 i = 0; i < handler.count(); ++i) {
            (IPaymentGateway.Order memory order, GatewayHandler.Booked memory booked) = handler.orderAt(i);
            bytes32 orderId = gateway.orderIdOf(order);
            vm.assertEq(gateway.orderStatus(order), booked.status, "status");
            vm.assertEq(gateway.refundedOf(orderId), booked.refunded, "refunded");
            vm.assertLe(booked.refunded, order.total, "refunded beyond the total");
            vm.assertEq(IERC20(order.token).balanceOf(gateway.receiverOf(orderId)), booked.deposited, "deposited");
        }
    }
}
