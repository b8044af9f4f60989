// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPayoutVault} from "../../src/interfaces/IPayoutVault.sol";
import {Test} from "../base/Test.sol";
import {VaultHandler} from "./VaultHandler.sol";

contract VaultInvariants is Test {
    VaultHandler internal handler;
    IPayoutVault internal vault;

    function setUp() public {
        handler = new VaultHandler();
        vault = handler.target();
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](8);
        // Named often: done often.
        (selectors[0], selectors[1], selectors[2]) =
        (VaultHandler.pay.selector, VaultHandler.pay.selector, VaultHandler.pay.selector);
        selectors[3] = VaultHandler.payAgain.selector;
        selectors[4] = VaultHandler.forge.selector;
        selectors[5] = VaultHandler.togglePause.selector;
        selectors[6] = VaultHandler.withdraw.selector;
        selectors[7] = VaultHandler.passTime.selector;
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev Every unit that left was paid once to its recipient, or withdrawn by the controller.
    function invariant_paysEachIdOnce() public view {
        address[2] memory tokens = handler.tokens();
        for (uint256 i = 0; i < 2; ++i) {
            uint256 paid = handler.paidTotal(tokens[i]);
            vm.assertEq(IERC20(tokens[i]).balanceOf(handler.recipient()), paid, "recipient");
            vm.assertEq(
                IERC20(tokens[i]).balanceOf(address(vault)),
                handler.float() - paid - handler.withdrawn(tokens[i]),
                "vault"
            );
        }
        for (uint256 id = 0; id <= 61; ++id) {
            vm.assertEq(vault.isPaidOut(bytes32(id)), id == 0 || handler.isPaid(bytes32(id)), "paid out");
        }
    }

    function invariant_staysWithinTheCaps() public view {
        (uint256 hourly, uint256 daily) = handler.caps();
        for (uint256 i = 0; i < handler.count(); ++i) {
            (IPayoutVault.Payout memory p, uint256 paidAt) = handler.paidAt(i);
            vm.assertLe(handler.inHour(p.token, paidAt / 1 hours), hourly, "hour");
            vm.assertLe(handler.inDay(p.token, paidAt / 1 days), daily, "day");
        }
    }

    function invariant_countsTheOutflow() public view {
        address[2] memory tokens = handler.tokens();
        for (uint256 i = 0; i < 2; ++i) {
            (uint256 inHour, uint256 inDay) = vault.outflowOf(tokens[i]);
            vm.assertEq(inHour, handler.inHour(tokens[i], block.timestamp / 1 hours), "hour");
            vm.assertEq(inDay, handler.inDay(tokens[i], block.timestamp / 1 days), "day");
        }
    }
}
