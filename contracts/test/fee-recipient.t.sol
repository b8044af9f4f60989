// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../local/LocalUsdc.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

/// @notice The fee recipient stands in one word with the pause. Fees that it cannot receive wait in the gateway.
contract FeeRecipientTest is SigningTest {
    function test_directPaymentsReachTheRecipientOfTheHour(uint256 seed, uint8 way) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.orderType, order.targetChain, order.via) = (DIRECT, uint64(block.chainid), address(0));
        order.fee = order.fee == 0 ? 1 : order.fee;
        order.total = order.payment + order.fee;
        address[3] memory recipients = [feeRecipient, stranger, feeRecipient];
        for (uint256 i = 0; i < recipients.length; ++i) {
            if (i != 0) name(recipients[i]);
            uint256 held = balance(order.token, recipients[i]);
            order.metaData = keccak256(abi.encode(seed, i));
            payBy(anyWay(way), order);
            vm.assertEq(balance(order.token, recipients[i]), held + order.fee, "fee");
        }
        vm.assertEq(balance(order.token, stranger), order.fee, "each has one fee, the first two");
        vm.assertEq(balance(order.token, feeRecipient), 2 * order.fee, "each has one fee, the first two");
    }

    /// @dev A token's issuer can block the operator's wallet: that must not stop the merchants.
    function test_feesAccrueWhenTheTokenBlocksTheFeeRecipient(uint256 seed) public {
        for (uint8 way = 0; way < WAYS; ++way) {
            IPaymentGateway.Order memory order = directOrder(seed, way);
            fundFor(Way(way), order);
            bytes memory data = callOf(Way(way), order, sign(order));
            block_(order.token, true);
            uint256 held = balance(order.token, merchant);
            uint256 accrued = gateway.accruedFees(order.token);
            vm.expectEmit(address(gateway));
            emit IPaymentGateway.FeeAccrued(digestOf(order), order.token, order.fee);
            sendAs(senderOf(Way(way), order), data);
            vm.assertEq(statusOf(order), SETTLED, "status");
            vm.assertEq(balance(order.token, merchant), held + netOf(order), "merchant");
            vm.assertEq(gateway.accruedFees(order.token), accrued + order.fee, "accrued");
            vm.assertEq(balance(order.token, feeRecipient), 0, "fee recipient");
            vm.assertEq(balance(order.token, address(gateway)), gateway.accruedFees(order.token), "gateway");
            block_(order.token, false);
        }
    }

    function test_accruedFeesOfDirectOrdersCanBeWithdrawn(uint256 seed, uint8 way) public {
        IPaymentGateway.Order memory order = directOrder(seed, way);
        block_(order.token, true);
        payBy(anyWay(way), order);
        name(stranger);
        gateway.withdrawFees(order.token);
        vm.assertEq(balance(order.token, stranger), order.fee - 1, "new recipient");
    }

    /// @dev The fee is asked for once only: a payer who allows the net alone pays nothing.
    function test_reverts_whenTheAllowanceLacksTheFee(uint256 seed) public {
        IPaymentGateway.Order memory order = directOrder(seed, 0);
        give(order.token, payer, order.total);
        allow(order.token, payer, order.total - 1);
        expectRefusedBy(Way.Allowance, order, sign(order), transferFailed(order.token));
    }

    /// @dev Else the payer would pay the fee twice.
    function test_reverts_whenTheTokenMovesTheFeeAndSaysItDidNot(uint256 seed, bool byDeposit) public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = directOrder(seed, 0);
        order.token = address(token);
        token.set(HostileToken.Mode.MovesAndReturnsFalse, feeRecipient);
        Way way = byDeposit ? Way.Deposit : Way.Allowance;
        fundFor(way, order);
        fundFor(way, order);
        if (!byDeposit) allow(order.token, payer, 2 * order.total);
        expectRefusedBy(way, order, sign(order), inexact(order.token, 0, order.fee));
    }

    function test_pauseSignersAndFeeRecipientDoNotTouchEachOther(uint256 seed) public {
        address[3] memory recipients = [feeRecipient, stranger, merchant];
        address[2] memory signers = [signer, payer];
        address recipient = feeRecipient;
        bool isPaused;
        bool[2] memory isSigner = [true, false];
        for (uint256 i = 0; i < 24; ++i) {
            uint256 choice = pick(seed, i);
            vm.startPrank(controller);
            if (choice % 3 == 0) {
                recipient = recipients[choice / 3 % 3];
                gateway.setFeeRecipient(recipient);
            } else if (choice % 3 == 1) {
                isPaused = !isPaused;
                if (isPaused) gateway.pause();
                else gateway.unpause();
            } else {
                uint256 which = choice / 3 % 2;
                isSigner[which] = choice / 6 % 2 == 0;
                gateway.setSigner(signers[which], isSigner[which]);
            }
            vm.stopPrank();
            vm.assertEq(gateway.feeRecipient(), recipient, "fee recipient");
            vm.assertEq(gateway.paused(), isPaused, "paused");
            vm.assertEq(gateway.isSigner(signer), isSigner[0], "signer");
            vm.assertEq(gateway.isSigner(payer), isSigner[1], "other signer");
            vm.assertEq(gateway.isSigner(address(0)), false, "nobody");
        }
    }

    function test_reverts_whenPausedWithAnotherRecipient(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        name(stranger);
        vm.prank(guardian);
        gateway.pause();
        fundFor(Way.Allowance, order);
        expectRefusedBy(Way.Allowance, order, sign(order), abi.encodeWithSignature("ContractPaused()"));
    }

    function test_reverts_whenTheSignerIsNobodyWithAnotherRecipient(uint256 seed, uint256 key) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        name(stranger);
        vm.prank(guardian);
        gateway.setSigner(signer, false);
        fundFor(Way.Allowance, order);
        bytes memory foreign = signDigest(bound(key, 1, CURVE_ORDER - 1), digestOf(order));
        bytes memory reason = abi.encodeWithSelector(IPaymentGateway.InvalidSignature.selector);
        expectRefusedBy(Way.Allowance, order, foreign, reason);
        // Recovery answers zero for this, and zero is never a signer.
        expectRefusedBy(Way.Allowance, order, new bytes(65), reason);
    }

    function directOrder(uint256 seed, uint8 way) private view returns (IPaymentGateway.Order memory order) {
        order = anySignedOrder(pick(seed, way));
        (order.orderType, order.targetChain, order.via) = (DIRECT, uint64(block.chainid), address(0));
        order.fee = bound(order.fee, 2, MAX_TOTAL / 4);
        order.total = order.payment + order.fee;
    }

    function block_(address token, bool blocks) private {
        vm.prank(minter);
        if (blocks) LocalUsdc(token).blacklist(feeRecipient);
        else LocalUsdc(token).unBlacklist(feeRecipient);
    }

    function name(address recipient) private {
        vm.prank(controller);
        gateway.setFeeRecipient(recipient);
    }
}
