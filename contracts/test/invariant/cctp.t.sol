// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Test} from "../base/Test.sol";
import {CctpHandler} from "./CctpHandler.sol";

contract CctpInvariants is Test {
    CctpHandler internal handler;

    function setUp() public {
        handler = new CctpHandler();
    }

    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    function targetSelectors() public view returns (FuzzSelector[] memory targets) {
        bytes4[] memory selectors = new bytes4[](6);
        // Named twice: done twice as often.
        (selectors[0], selectors[1]) = (CctpHandler.send.selector, CctpHandler.send.selector);
        (selectors[2], selectors[3]) = (CctpHandler.mint.selector, CctpHandler.mint.selector);
        (selectors[4], selectors[5]) = (CctpHandler.forge.selector, CctpHandler.sendWrongly.selector);
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), selectors);
    }

    function targetContracts() public view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    /// @dev One invariant, because each runs all the calls anew.
    function invariant_whatIsBurntIsMintedOnceOrInFlight() public {
        (uint256 here, uint256 there) = handler.supplies();
        vm.assertEq(here, handler.funds() - handler.burnt(), "supply here");
        vm.assertEq(there, handler.minted(), "supply there");
        vm.assertEq(handler.burnt(), handler.minted() + handler.inFlight(), "burnt");
        address[3] memory recipients = handler.recipients();
        for (uint256 i = 0; i < 3; ++i) {
            vm.assertEq(handler.received(recipients[i]), handler.owed(recipients[i]), "recipient");
        }
        (uint256 tokens, uint256 approval) = handler.residue();
        vm.assertEq(tokens, 0, "tokens that the route keeps");
        vm.assertEq(approval, 0, "approval that the route leaves");
    }
}
