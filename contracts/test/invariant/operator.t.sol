// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {Test} from "../base/Test.sol";
import {OperatorHandler} from "./OperatorHandler.sol";

/// @notice What holds for an operator's contracts together, whichever keys come and go.
contract OperatorInvariants is Test {
    OperatorHandler internal handler;
    address internal gateway;
    address internal vault;
    address internal route;
    IERC20 internal usdc;

    function setUp() public {
        handler = new OperatorHandler();
        address token;
        (gateway, vault, route, token) = handler.targets();
        usdc = IERC20(token);
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](20);
        // Named several times: done oftener.
        for (uint256 i = 0; i < 4; ++i) {
            selectors[i] = OperatorHandler.pay.selector;
        }
        (selectors[4], selectors[5]) = (OperatorHandler.settle.selector, OperatorHandler.settle.selector);
        (selectors[6], selectors[7]) = (OperatorHandler.payout.selector, OperatorHandler.refund.selector);
        selectors[8] = OperatorHandler.reclaim.selector;
        selectors[9] = OperatorHandler.handOnSigner.selector;
        selectors[10] = OperatorHandler.handOnSettler.selector;
        selectors[11] = OperatorHandler.handOnController.selector;
        selectors[12] = OperatorHandler.setCaps.selector;
        selectors[13] = OperatorHandler.togglePause.selector;
        selectors[14] = OperatorHandler.wait_.selector;
        selectors[15] = OperatorHandler.withdraw.selector;
        selectors[16] = OperatorHandler.withdrawFees.selector;
        selectors[17] = OperatorHandler.toggleBlock.selector;
        selectors[18] = OperatorHandler.callElsewhere.selector;
        selectors[19] = OperatorHandler.rescueFromElsewhere.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev To the unit: what is open and accrued is in the gateway, what was settled into the vault and neither paid out nor
    /// withdrawn is there, nothing is in the route, and what was burnt has left the supply.
    /// forge-config: deep.invariant.runs = 200
    /// forge-config: deep.invariant.depth = 300
    /// forge-config: deep.invariant.check_interval = 20
    function invariant_everyUnitIsWhereItBelongs() public view {
        vm.assertEq(usdc.balanceOf(gateway), handler.open() + handler.fees(), "gateway");
        vm.assertEq(IPaymentGateway(gateway).accruedFees(address(usdc)), handler.fees(), "fees");
        vm.assertEq(usdc.balanceOf(vault), handler.inVault(), "vault");
        vm.assertEq(usdc.balanceOf(route), 0, "route");
        vm.assertEq(usdc.allowance(gateway, route), 0, "allowance");
        vm.assertEq(usdc.totalSupply(), handler.given() - handler.burnt(), "supply");
        vm.assertEq(handler.merchantBalance(), handler.atMerchant(), "merchant");
    }

    /// @dev No former signer keeps a right, on either contract.
    function invariant_rightsLeaveWithTheirHolders() public view {
        vm.assertEq(handler.isFormerKeyLeft(), false, "a former signer");
    }
}
