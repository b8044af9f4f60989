// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {VaultTest} from "./base/VaultTest.sol";

/// @notice What the operator does with its float: withdraw, setCaps, available.
contract VaultFloatTest is VaultTest {
    function test_withdrawsOutsideTheCapsAndWhilePaused(address to, uint256 amount) public {
        vm.assume(to != address(0) && to != address(vault));
        amount = bound(amount, 0, FLOAT);
        vm.prank(guardian);
        vault.pause();
        vm.expectEmit(address(vault));
        emit IPayoutVault.Withdrawn(address(usdc), to, amount);
        vm.prank(controller);
        vault.withdraw(address(usdc), to, amount);
        vm.assertEq(usdc.balanceOf(to), amount, "to");
        (uint256 inHour,) = vault.outflowOf(address(usdc));
        vm.assertEq(inHour, 0, "a withdrawal is not an outflow");
    }

    function test_reverts_whenWithdrawingToZero() public {
        expectError(IAccess.ZeroAddress.selector);
        vm.prank(controller);
        vault.withdraw(address(usdc), address(0), 1);
    }

    function test_reverts_whenWithdrawingMoreThanTheFloat(uint256 excess) public {
        vm.expectRevert(abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, address(usdc)));
        vm.prank(controller);
        vault.withdraw(address(usdc), controller, bound(excess, FLOAT + 1, type(uint256).max));
    }

    function test_reverts_whenAnyoneElseWithdraws(uint8 which, address anyone) public {
        address[4] memory callers = [signer, settler, guardian, anyone];
        vm.assume(callers[which % 4] != controller);
        vm.expectRevert(unauthorized(callers[which % 4]));
        vm.prank(callers[which % 4]);
        vault.withdraw(address(usdc), callers[which % 4], 1);
    }

    function test_setsCaps(address token, uint112 perOrder, uint112 hourly, uint112 daily) public {
        vm.assume(token != address(0));
        vm.expectEmit(address(vault));
        emit IPayoutVault.CapsSet(token, perOrder, hourly, daily);
        vm.prank(controller);
        vault.setCaps(token, perOrder, hourly, daily);
        IPayoutVault.Caps memory caps = vault.capsOf(token);
        vm.assertEq(caps.perOrder, perOrder, "per order");
        vm.assertEq(caps.hourly, hourly, "hourly");
        vm.assertEq(caps.daily, daily, "daily");
    }

    function test_availableIsTheLeast(uint256 float, uint256 hourly, uint256 daily) public {
        float = bound(float, 0, FLOAT);
        hourly = bound(hourly, 1, 2 * FLOAT);
        daily = bound(daily, 1, 2 * FLOAT);
        vm.startPrank(controller);
        vault.withdraw(address(usdc), controller, FLOAT - float);
        vault.setCaps(address(usdc), 1, uint112(hourly), uint112(daily));
        vm.stopPrank();
        uint256 least = float < hourly ? float : hourly;
        vm.assertEq(vault.available(address(usdc)), least < daily ? least : daily, "available");
    }

    /// @dev The largest caps and amounts: the sums do not wrap and nothing panics.
    function test_holdsAtTheLargestCaps(uint256 seed) public {
        vm.prank(controller);
        vault.setCaps(address(usdc), type(uint112).max, type(uint112).max, type(uint112).max);
        vm.prank(minter);
        usdc.mint(address(vault), type(uint112).max);
        payout(payoutOf(seed, type(uint112).max));
        IPayoutVault.Payout memory p = payoutOf(pick(seed, 1), 1);
        expectRefused(
            p, sign(p), abi.encodeWithSelector(IPayoutVault.HourlyCapExceeded.selector, 1, 0), SKIP_HOURLY_CAP
        );
    }
}
