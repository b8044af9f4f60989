// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {VaultTest} from "./base/VaultTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract PayoutBatchTest is VaultTest {
    uint256 private constant MAX_BATCH = 8;

    /// @dev Any mixture of good, repeated, foreign-signed and refused items: the good ones are paid once.
    function test_paysTheGoodAndSkipsTheRest(uint256 seed, uint256 size) public {
        HostileToken token = hostile();
        token.set(HostileToken.Mode.BurnsGas, stranger);
        size = bound(size, 0, MAX_BATCH);
        IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](size);
        bytes[] memory signatures = new bytes[](size);
        uint256 owed;
        for (uint256 i = 0; i < size; ++i) {
            uint256 kind = pick(seed, i) % 5;
            payouts[i] = payoutOf(pick(seed, i), bound(pick(seed, 100 + i), 1, HOURLY / MAX_BATCH));
            payouts[i].token = address(token);
            signatures[i] = sign(payouts[i]);
            if (kind == 0) signatures[i] = mirror(signatures[i]);
            if (kind == 1) {
                payouts[i].to = stranger;
                signatures[i] = sign(payouts[i]);
            }
            if (kind == 2 && i != 0) (payouts[i], signatures[i]) = (payouts[i - 1], signatures[i - 1]);
            else if (kind > 1) owed += payouts[i].amount;
        }
        vm.prank(settler);
        vault.payoutBatch(payouts, signatures);
        vm.assertEq(token.balanceOf(merchant), owed, "merchant");
        vm.assertEq(token.balanceOf(address(vault)), FLOAT - owed, "vault");
        (uint256 inHour,) = vault.outflowOf(address(token));
        vm.assertEq(inHour, owed, "outflow");
    }

    function test_stopsAtTheCap(uint256 seed) public {
        IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](4);
        bytes[] memory signatures = new bytes[](4);
        for (uint256 i = 0; i < 4; ++i) {
            payouts[i] = payoutOf(pick(seed, i), i == 3 ? HOURLY - 2 * PER_ORDER : PER_ORDER);
            signatures[i] = sign(payouts[i]);
        }
        vm.expectEmit(address(vault));
        emit IPayoutVault.PayoutSkipped(payouts[2].orderId, SKIP_HOURLY_CAP);
        vm.prank(settler);
        vault.payoutBatch(payouts, signatures);
        vm.assertEq(usdc.balanceOf(merchant), HOURLY, "the third does not fit, the fourth fills the hour");
    }

    function test_reverts_whenTheLengthsDiffer(uint8 payouts, uint8 signatures) public {
        vm.assume(payouts != signatures);
        vm.expectRevert(abi.encodeWithSelector(IPayoutVault.LengthMismatch.selector, payouts, signatures));
        vm.prank(settler);
        vault.payoutBatch(new IPayoutVault.Payout[](payouts), new bytes[](signatures));
    }
}
