// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IERC20} from "../src/interfaces/IERC20.sol";
import {IPayoutVault} from "../src/interfaces/IPayoutVault.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {VaultTest} from "./base/VaultTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract PayoutTest is VaultTest {
    function test_paysTheRecipientOnce(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.assertEq(vault.isPaidOut(p.orderId), false, "before");
        bytes memory signature = sign(p);
        vm.expectEmit(address(vault));
        emit IPayoutVault.PaidOut(p.orderId, p.channelId, p.to, p.token, p.amount, p.sourceChain, p.metaData);
        payoutAs(settler, p, signature);
        vm.assertEq(IERC20(p.token).balanceOf(merchant), p.amount, "merchant");
        vm.assertEq(IERC20(p.token).balanceOf(address(vault)), FLOAT - p.amount, "vault");
        vm.assertEq(vault.isPaidOut(p.orderId), true, "afterwards");
        (uint256 inHour, uint256 inDay) = vault.outflowOf(p.token);
        vm.assertEq(inHour, p.amount, "hour");
        vm.assertEq(inDay, p.amount, "day");
    }

    function test_digestIsTypedData(uint256 seed, uint64 chain) public {
        vm.assume(chain != 0);
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.assertEq(vault.payoutDigest(p), digestOf(p), "here");
        vm.chainId(chain);
        vm.assertEq(vault.payoutDigest(p), digestOf(p), "on a fork");
    }

    function test_reverts_whenTheOrderWasPaidOut(uint256 seed, uint32 later, uint256 otherSeed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        payout(p);
        vm.warp(START + later);
        // The same id is spent whatever else the new payout says.
        IPayoutVault.Payout memory again = anyPayout(otherSeed);
        again.orderId = p.orderId;
        expectRefused(
            again,
            sign(again),
            abi.encodeWithSelector(IPayoutVault.AlreadyPaidOut.selector, p.orderId),
            SKIP_PAID_BEFORE
        );
    }

    function test_reverts_whenTheOrderIdIsZero(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        p.orderId = bytes32(0);
        expectRefused(
            p, sign(p), abi.encodeWithSelector(IPayoutVault.AlreadyPaidOut.selector, bytes32(0)), SKIP_PAID_BEFORE
        );
    }

    function test_reverts_whenTheCallerIsNotASettler(uint256 seed, address caller, uint8 which) public {
        address[4] memory callers = [caller, controller, guardian, signer];
        caller = callers[which % 4];
        vm.assume(caller != settler);
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory signature = sign(p);
        vm.expectRevert(unauthorized(caller));
        payoutAs(caller, p, signature);
        vm.expectRevert(unauthorized(caller));
        vm.prank(caller);
        vault.payoutBatch(new IPayoutVault.Payout[](0), new bytes[](0));
    }

    function test_reverts_whenTheSettlerIsRevoked(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory signature = sign(p);
        vm.prank(guardian);
        vault.setSettler(settler, false);
        vm.expectRevert(unauthorized(settler));
        payoutAs(settler, p, signature);
    }

    function test_reverts_whenPaused(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory signature = sign(p);
        vm.prank(guardian);
        vault.pause();
        expectError(IAccess.ContractPaused.selector);
        payoutAs(settler, p, signature);
        expectError(IAccess.ContractPaused.selector);
        vm.prank(settler);
        vault.payoutBatch(new IPayoutVault.Payout[](0), new bytes[](0));
        vm.prank(controller);
        vault.unpause();
        payout(p);
    }

    /// @dev Neither key alone: the settler cannot sign, and a signature of the settler's does not count.
    function test_reverts_whenTheSignerIsNotASigner(uint256 seed, uint256 key, bool bySettler) public {
        key = bySettler ? keyOf("settler") : bound(key, 1, CURVE_ORDER - 1);
        vm.assume(vm.addr(key) != signer);
        IPayoutVault.Payout memory p = anyPayout(seed);
        expectInvalid(p, signDigest(key, digestOf(p)));
    }

    function test_reverts_whenTheSignerIsRevoked(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.prank(guardian);
        vault.setSigner(signer, false);
        expectInvalid(p, sign(p));
    }

    function test_reverts_whenTheSignatureIsNotCanonical(uint256 seed, uint8 form) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory good = sign(p);
        (bytes32 r, uint256 s, uint8 v) = split(good);
        bytes[5] memory forms =
            [mirror(good), abi.encodePacked(r, s, v - 27), abi.encodePacked(good, uint8(0)), new bytes(65), bytes("")];
        expectInvalid(p, forms[form % 5]);
    }

    /// @dev A signature that recovers nobody is nobody's, whoever is a signer and whatever the order's id is.
    function test_reverts_whenRecoveryFails(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.prank(controller);
        vault.setSigner(address(1), true);
        bytes memory signature = abi.encodePacked(bytes32(uint256(1)), uint256(1), uint8(29));
        expectInvalid(p, signature);
        p.orderId = bytes32(uint256(uint160(signer)));
        expectInvalid(p, signature);
    }

    function test_reverts_whenAnyFieldIsAltered(uint256 seed, uint8 field, uint256 value) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory signature = sign(p);
        bytes32 before = digestOf(p);
        if (field % 8 == 7) p.deadline = uint64(bound(value, block.timestamp, type(uint64).max));
        if (field % 8 == 0) p.orderId = bytes32(value);
        if (field % 8 == 1) p.channelId = bytes32(value);
        if (field % 8 == 2) p.metaData = bytes32(value);
        if (field % 8 == 3) p.sourceChain = uint64(bound(value, 1, 1_000));
        if (field % 8 == 4) p.token = p.token == address(usdc) ? address(usdt) : address(usdc);
        if (field % 8 == 5) p.to = address(uint160(bound(value, 1, type(uint160).max)));
        if (field % 8 == 6) p.amount = bound(value, 1, PER_ORDER);
        vm.assume(digestOf(p) != before && p.orderId != 0);
        expectInvalid(p, signature);
    }

    function test_reverts_whenSignedForAnotherChainOrVault(uint256 seed, uint64 chain, address other) public {
        vm.assume(chain != block.chainid && other != address(vault));
        IPayoutVault.Payout memory p = anyPayout(seed);
        expectInvalid(p, signDigest(keyOf("vault signer"), digestFor(p, address(vault), chain)));
        expectInvalid(p, signDigest(keyOf("vault signer"), digestFor(p, other, block.chainid)));
    }

    function test_reverts_whenThePayoutIsInvalid(uint256 seed, uint8 which) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        if (which % 4 == 0) p.to = address(0);
        if (which % 4 == 1) p.to = address(vault);
        if (which % 4 == 2) p.amount = 0;
        if (which % 4 == 3) p.sourceChain = 0;
        expectRefused(p, sign(p), abi.encodeWithSelector(IPayoutVault.InvalidPayout.selector), SKIP_INVALID);
    }

    /// @dev A signature that nobody used in time is worth nothing, whoever finds it later.
    function test_reverts_whenTheDeadlineHasPassed(uint256 seed, uint32 late) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.warp(uint256(p.deadline) + 1 + late);
        bytes memory reason = abi.encodeWithSelector(IPayoutVault.PayoutDeadlinePassed.selector, p.deadline);
        expectRefused(p, sign(p), reason, SKIP_DEADLINE);
    }

    function test_paysInTheLastSecond(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.warp(p.deadline);
        payout(p);
        vm.assertEq(vault.isPaidOut(p.orderId), true, "paid out");
    }

    function test_reverts_whenTheTokenHasNoCaps(uint256 seed, address token) public {
        vm.assume(token != address(usdc) && token != address(usdt));
        IPayoutVault.Payout memory p = anyPayout(seed);
        p.token = token;
        vm.assume(token.code.length == 0);
        expectRefused(p, sign(p), abi.encodeWithSelector(IPayoutVault.TokenNotAllowed.selector, token), SKIP_TOKEN);
    }

    function test_reverts_whenOneCapIsZero(uint256 seed, uint8 which) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.prank(controller);
        vault.setCaps(p.token, which % 3 == 0 ? 0 : PER_ORDER, which % 3 == 1 ? 0 : HOURLY, which % 3 == 2 ? 0 : DAILY);
        expectRefused(p, sign(p), abi.encodeWithSelector(IPayoutVault.TokenNotAllowed.selector, p.token), SKIP_TOKEN);
        vm.assertEq(vault.available(p.token), 0, "available");
    }

    function test_reverts_whenThePerOrderCapIsExceeded(uint256 seed, uint256 excess) public {
        IPayoutVault.Payout memory p = payoutOf(seed, bound(excess, PER_ORDER + 1, type(uint256).max));
        expectRefused(
            p,
            sign(p),
            abi.encodeWithSelector(IPayoutVault.PerOrderCapExceeded.selector, p.amount, PER_ORDER),
            SKIP_PER_ORDER_CAP
        );
        payout(payoutOf(seed, PER_ORDER));
    }

    function test_reverts_whenTheHourlyCapIsExceeded(uint256 seed, uint256 second) public {
        vm.warp(START + bound(second, 0, 1 hours - 1));
        payout(payoutOf(1, PER_ORDER));
        payout(payoutOf(2, PER_ORDER));
        vm.assertEq(vault.available(address(usdc)), HOURLY - 2 * PER_ORDER, "available");
        IPayoutVault.Payout memory p = payoutOf(pick(seed, 9), HOURLY - 2 * PER_ORDER + 1);
        // The last second of the hour.
        vm.warp(START + 1 hours - 1);
        expectRefused(
            p,
            sign(p),
            abi.encodeWithSelector(IPayoutVault.HourlyCapExceeded.selector, p.amount, p.amount - 1),
            SKIP_HOURLY_CAP
        );
        payout(payoutOf(3, HOURLY - 2 * PER_ORDER));
        vm.assertEq(vault.available(address(usdc)), 0, "exhausted");
        // The first second of the next.
        vm.warp(START + 1 hours);
        payout(p);
    }

    function test_reverts_whenTheDailyCapIsExceeded() public {
        for (uint256 i = 0; i < 6; ++i) {
            vm.warp(START + i / 2 * 1 hours);
            payout(payoutOf(i, PER_ORDER));
        }
        vm.warp(START + 1 days - 1);
        vm.assertEq(vault.available(address(usdc)), 0, "exhausted");
        IPayoutVault.Payout memory p = payoutOf(99, 1);
        expectRefused(p, sign(p), abi.encodeWithSelector(IPayoutVault.DailyCapExceeded.selector, 1, 0), SKIP_DAILY_CAP);
        vm.warp(START + 1 days);
        vm.assertEq(vault.available(address(usdc)), HOURLY, "a new day");
        payout(p);
    }

    function test_countsCapsPerToken(uint256 seed) public {
        payout(payoutOf(1, PER_ORDER));
        payout(payoutOf(2, PER_ORDER));
        IPayoutVault.Payout memory p = payoutOf(pick(seed, 9), PER_ORDER);
        p.token = address(usdt);
        payout(p);
        vm.assertEq(vault.available(address(usdt)), HOURLY - PER_ORDER, "the other token");
    }

    function test_reverts_whenCapsAreLoweredBelowTheOutflow(uint256 seed) public {
        payout(payoutOf(1, PER_ORDER));
        vm.prank(controller);
        vault.setCaps(address(usdc), PER_ORDER, PER_ORDER / 2, DAILY);
        vm.assertEq(vault.available(address(usdc)), 0, "available");
        IPayoutVault.Payout memory p = payoutOf(pick(seed, 9), 1);
        expectRefused(
            p, sign(p), abi.encodeWithSelector(IPayoutVault.HourlyCapExceeded.selector, 1, 0), SKIP_HOURLY_CAP
        );
    }

    function test_reverts_whenTheFloatIsShort(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        vm.prank(controller);
        vault.withdraw(p.token, controller, FLOAT - p.amount + 1);
        vm.assertEq(vault.available(p.token), p.amount - 1, "available");
        expectTransferRefused(p);
    }

    function test_reverts_whenTheRecipientIsBlocked(uint256 seed) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        p.token = address(usdc);
        vm.prank(minter);
        usdc.blacklist(merchant);
        expectTransferRefused(p);
        vm.prank(minter);
        usdc.unBlacklist(merchant);
        payout(p);
    }

    function test_reverts_whenTheTokenRefuses(uint256 seed, uint8 mode) public {
        HostileToken.Mode[6] memory modes = [
            HostileToken.Mode.ReturnsFalse,
            HostileToken.Mode.ReturnsTwo,
            HostileToken.Mode.ReturnsOneByte,
            HostileToken.Mode.Reverts,
            HostileToken.Mode.RevertsWithBomb,
            HostileToken.Mode.BurnsGas
        ];
        HostileToken token = hostile();
        IPayoutVault.Payout memory p = anyPayout(seed);
        p.token = address(token);
        token.set(modes[mode % 6], address(0));
        expectTransferRefused(p);
        token.set(HostileToken.Mode.Honest, address(0));
        payout(p);
    }

    function test_reverts_whenATransferFailsForWantOfGas(uint256 seed, uint256 gasGiven) public {
        IPayoutVault.Payout memory p = anyPayout(seed);
        bytes memory data = abi.encodeCall(IPayoutVault.payout, (p, sign(p)));
        vm.prank(settler);
        (bool success,) = address(vault).call{gas: bound(gasGiven, 30_000, 400_000)}(data);
        vm.assertEq(vault.isPaidOut(p.orderId), success, "half a payout");
        vm.assertEq(IERC20(p.token).balanceOf(merchant), success ? p.amount : 0, "merchant");
    }

    function expectInvalid(IPayoutVault.Payout memory p, bytes memory signature) private {
        expectRefused(p, signature, abi.encodeWithSelector(IPayoutVault.InvalidSignature.selector), SKIP_SIGNATURE);
    }

    function expectTransferRefused(IPayoutVault.Payout memory p) private {
        expectRefused(p, sign(p), abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, p.token), SKIP_TRANSFER);
    }
}
