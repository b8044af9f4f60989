// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "./base/SigningTest.sol";

/// @notice The first fee recipient stands in the code, later ones in storage, and one bit of the word that holds pause
/// and signer tells which counts.
contract FeeRecipientTest is SigningTest {
    function test_directPaymentsReachTheRecipientOfTheHour(uint256 seed, uint8 way) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.orderType, order.targetChain) = (DIRECT, uint64(block.chainid));
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

    function test_pauseSignersAndFeeRecipientShareAWordWithoutTouchingEachOther(uint256 seed) public {
        address[3] memory recipients = [feeRecipient, stranger, merchant];
        address[2] memory signers = [signer, payer];
        address recipient = feeRecipient;
        bool isPaused;
        bool[2] memory isSigner = [true, false];
        for (uint256 i = 0; i < 24; ++i) {
            uint256 choice = pick(seed, i);
            vm.startPrank(admin);
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
                gateway.setOrderSigner(signers[which], isSigner[which]);
            }
            vm.stopPrank();
            vm.assertEq(gateway.feeRecipient(), recipient, "fee recipient");
            vm.assertEq(gateway.paused(), isPaused, "paused");
            vm.assertEq(gateway.isOrderSigner(signer), isSigner[0], "signer");
            vm.assertEq(gateway.isOrderSigner(payer), isSigner[1], "other signer");
            vm.assertEq(gateway.isOrderSigner(address(0)), false, "nobody");
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
        gateway.setOrderSigner(signer, false);
        fundFor(Way.Allowance, order);
        bytes memory foreign = signDigest(bound(key, 1, CURVE_ORDER - 1), digestOf(order));
        bytes memory reason = abi.encodeWithSelector(IPaymentGateway.InvalidSignature.selector);
        expectRefusedBy(Way.Allowance, order, foreign, reason);
        // Recovery answers zero for this, and zero is what the word holds in the signer's place.
        expectRefusedBy(Way.Allowance, order, new bytes(65), reason);
    }

    function name(address recipient) private {
        vm.prank(admin);
        gateway.setFeeRecipient(recipient);
    }
}
