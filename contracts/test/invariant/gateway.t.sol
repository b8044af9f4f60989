// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {Test} from "../base/Test.sol";
import {GatewayHandler} from "./GatewayHandler.sol";

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
        bytes4[] memory selectors = new bytes4[](13);
        // Named twice: done twice as often.
        (selectors[0], selectors[1], selectors[2]) =
        (GatewayHandler.pay.selector, GatewayHandler.pay.selector, GatewayHandler.pay.selector);
        (selectors[3], selectors[4]) = (GatewayHandler.settle.selector, GatewayHandler.settle.selector);
        selectors[5] = GatewayHandler.payAgain.selector;
        selectors[6] = GatewayHandler.refund.selector;
        selectors[7] = GatewayHandler.reclaim.selector;
        selectors[8] = GatewayHandler.withdrawFees.selector;
        selectors[9] = GatewayHandler.donate.selector;
        selectors[10] = GatewayHandler.togglePause.selector;
        selectors[11] = GatewayHandler.toggleSigner.selector;
        selectors[12] = GatewayHandler.toggleBlock.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev Solvent to the unit: open orders and accrued fees, and what was donated, which nothing can take.
    function invariant_holdsWhatItOwes() public view {
        address[] memory tokens = handler.tokens();
        for (uint256 i = 0; i < tokens.length; ++i) {
            address token = tokens[i];
            uint256 owed = handler.open(token) + handler.fees(token);
            vm.assertEq(gateway.accruedFees(token), handler.fees(token), "accrued fees");
            vm.assertEq(
                IERC20(token).balanceOf(address(gateway)), owed + handler.donated(token), "balance of the gateway"
            );
        }
    }

    /// @dev Refund and reclaim reach only the payer, settlement only the recipient or the vault, fees only the fee
    /// recipient: everyone has exactly what the books say.
    function invariant_everyoneHasTheirOwn() public view {
        address[] memory tokens = handler.tokens();
        address[] memory parties = handler.parties();
        for (uint256 i = 0; i < tokens.length; ++i) {
            for (uint256 j = 0; j < parties.length; ++j) {
                vm.assertEq(IERC20(tokens[i]).balanceOf(parties[j]), handler.expected(tokens[i], parties[j]), "balance");
            }
        }
    }

    /// @dev Each order is where the books, which know one way only, have put it.
    function invariant_statusesMoveOneWay() public view {
        for (uint256 i = 0; i < handler.count(); ++i) {
            (IPaymentGateway.Order memory order, uint8 status) = handler.orderAt(i);
            vm.assertEq(gateway.orderStatus(order), status, "status");
        }
    }

    function invariant_theZeroKeyStaysBurnt() public view {
        (uint8 status,, uint208 id) = gateway.statusOf(bytes32(0));
        vm.assertEq(status, 255, "status");
        vm.assertEq(id, 0, "id");
    }
}
