// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../local/LocalUsdc.sol";
import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {Vm} from "./base/Vm.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {StrictToken} from "./hostile/StrictToken.sol";

/// @notice What holds for every way to pay alike, tested for each of them, with Circle's own USDC and our stand-in.
contract WaysTest is SigningTest {
    function test_takesExactlyTheTotal(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.orderType = [ESCROW, VAULT_PAYOUT, CCTP][pick(seed, 62) % 3];
        order.targetChain = order.orderType == ESCROW ? uint64(block.chainid) : OTHER_CHAIN;
        order.via = viaOf(order.orderType);
        give(order.token, address(gateway), 7);
        bytes32 orderId = payBy(way, order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, gateway.receiverOf(orderId)), 0, "receiver");
        vm.assertEq(balance(order.token, address(gateway)), order.total + 7, "gateway");
        vm.assertEq(balance(order.token, merchant), 0, "merchant");
        vm.assertEq(gateway.accruedFees(order.token), 0, "a fee accrues at settlement");
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(order.metaData);
        vm.assertEq(status, PAID, "status");
        vm.assertEq(paidAt, block.timestamp, "paid at");
        vm.assertEq(id, uint256(orderId) >> 48, "id");
    }

    function test_paysMerchantAndFeeAtOnceWhenDirect(uint256 seed, uint8 wayOf) public {
        IPaymentGateway.Order memory order = directOrder(seed);
        give(order.token, address(gateway), 7);
        bytes32 orderId = payBy(anyWay(wayOf), order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, gateway.receiverOf(orderId)), 0, "receiver");
        vm.assertEq(balance(order.token, address(gateway)), 7, "residue");
        vm.assertEq(balance(order.token, merchant), netOf(order), "merchant");
        vm.assertEq(balance(order.token, feeRecipient), order.fee, "fee recipient");
        vm.assertEq(gateway.accruedFees(order.token), 0, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_emitsPaidFromThePayer(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        bytes memory data = callOf(way, order, sign(order));
        expectPaid(order);
        sendAs(senderOf(way, order), data);
    }

    /// @dev The signer of the construction, and one that was granted later.
    function test_takesTheTransactionOfAnOrderSignerForASignature(uint256 seed, uint8 wayOf, bool isFirst) public {
        Way way = [Way.Authorization, Way.Permit2, Way.Deposit][wayOf % 3];
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.prank(controller);
        gateway.setSigner(stranger, true);
        sendAs(isFirst ? signer : stranger, callOf(way, order, ""));
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_takesTheTransactionOfAPayerWhoIsAnOrderSignerForASignature(uint256 seed, bool permit) public {
        Way way = permit ? Way.Permit : Way.Allowance;
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.prank(controller);
        gateway.setSigner(payer, true);
        sendAs(payer, callOf(way, order, ""));
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenThereIsNoSignatureAndTheSenderIsNoOrderSigner(
        uint256 seed,
        uint8 wayOf,
        uint8 which,
        address anyone
    ) public {
        Way way = [Way.Authorization, Way.Permit2, Way.Deposit][wayOf % 3];
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.assume(anyone != signer && anyone != address(0));
        address caller =
            [anyone, controller, guardian, settler, payer, merchant, feeRecipient, signer, stranger][which % 9];
        if (caller == signer || caller == stranger) {
            vm.startPrank(controller);
            gateway.setSigner(caller, true);
            gateway.setSigner(caller, false);
            vm.stopPrank();
        }
        bytes memory data = callOf(way, order, "");
        expectError(IPaymentGateway.InvalidSignature.selector);
        sendAs(caller, data);
    }

    /// @dev It has every bit of an address, as a badly masked word would.
    function test_reverts_whenThereIsNoSignatureAndTheSenderIsTheHighestAddress() public {
        IPaymentGateway.Order memory order = plainOrder();
        fundFor(Way.Deposit, order);
        bytes memory data = callOf(Way.Deposit, order, "");
        for (uint256 i = 0; i < 2; ++i) {
            expectError(IPaymentGateway.InvalidSignature.selector);
            sendAs(address(type(uint160).max), data);
            vm.prank(controller);
            gateway.setSigner(stranger, true);
        }
    }

    function test_paysLegsOfASingleUnitWhenDirect() public {
        for (uint8 way = 0; way < WAYS; ++way) {
            IPaymentGateway.Order memory order = directOrder(way);
            (order.total, order.payment, order.fee) = (2, 2, 1);
            uint256 held = balance(order.token, merchant);
            uint256 fees = balance(order.token, feeRecipient);
            payBy(Way(way), order);
            vm.assertEq(balance(order.token, merchant), held + 1, "merchant");
            vm.assertEq(balance(order.token, feeRecipient), fees + 1, "fee recipient");
        }
    }

    /// @dev Some tokens refuse a transfer of nothing. So a leg without an amount is no call at all.
    function test_asksTheTokenForNoEmptyLegWhenDirect() public {
        for (uint256 i = 0; i < 6; ++i) {
            bool isAllFee = i < 3;
            HostileToken token = new HostileToken();
            IPaymentGateway.Order memory order = directOrder(i);
            (order.token, order.total, order.payment) = (address(token), 1_000, 1_000);
            order.fee = isAllFee ? 1_000 : 0;
            token.set(HostileToken.Mode.Reverts, isAllFee ? merchant : feeRecipient);
            fundFor(i % 3 == 2 ? Way.Deposit : Way.Allowance, order);
            bytes memory signature = sign(order);
            vm.recordLogs();
            if (i % 3 == 0) payAs(payer, order, signature);
            else if (i % 3 == 1) gateway.payWithAuthorization(order, signature, new bytes(65));
            else gateway.collect(order, signature);
            Vm.Log[] memory logs = vm.getRecordedLogs();
            for (uint256 j = 0; j < logs.length; ++j) {
                vm.assertEq(logs[j].topics[0] == IPaymentGateway.FeeAccrued.selector, false, "a fee of nothing accrued");
            }
            vm.assertEq(balance(order.token, isAllFee ? feeRecipient : merchant), 1_000, "the other leg");
            vm.assertEq(statusOf(order), SETTLED, "status");
        }
    }

    /// @dev Each call is as long as the standard's, and of each answer only the first word counts.
    function test_takesATokenThatCountsItsCalldataAndAnswersTwoWords() public {
        for (uint256 i = 0; i < 6; ++i) {
            StrictToken token = new StrictToken();
            IPaymentGateway.Order memory order = i % 2 == 0 ? directOrder(i) : anyOrder(i);
            order.token = address(token);
            (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
            bytes memory signature = sign(order);
            token.mint(i < 4 ? payer : gateway.receiverOf(digestOf(order)), 1_000);
            if (i < 2) payAs(payer, order, signature);
            else if (i < 4) gateway.payWithAuthorization(order, signature, new bytes(65));
            else gateway.collect(order, signature);
            if (order.orderType == ESCROW) settleOne(order);
            vm.assertEq(token.balanceOf(merchant), 990, "merchant");
            vm.assertEq(token.balanceOf(address(gateway)), order.orderType == ESCROW ? 10 : 0, "gateway");
            vm.assertEq(statusOf(order), SETTLED, "status");
        }
    }

    function test_reverts_whenPausedAlsoForOrderSigners(uint256 seed, uint8 wayOf, bool isFirst) public {
        Way way = [Way.Authorization, Way.Permit2, Way.Deposit][wayOf % 3];
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.prank(controller);
        gateway.setSigner(stranger, true);
        vm.prank(guardian);
        gateway.pause();
        bytes memory data = callOf(way, order, "");
        expectError(IAccess.ContractPaused.selector);
        sendAs(isFirst ? signer : stranger, data);
    }

    function test_anyoneSendsWhatThePayerSigned(uint256 seed, uint8 wayOf, address caller) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        bytes memory data = callOf(way, order, sign(order));
        if (way == Way.Allowance || way == Way.Permit) {
            vm.assume(caller != payer);
            vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, caller, payer));
            vm.prank(caller);
            (bool success,) = address(gateway).call(data);
            success;
            return;
        }
        sendAs(caller, data);
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_paysAtTheLastSecond(uint256 seed, uint8 wayOf) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        vm.warp(order.payBy);
        payBy(anyWay(wayOf), order);
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenTheDeadlineHasPassed(uint256 seed, uint8 wayOf, uint256 late) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.warp(order.payBy + bound(late, 1, 365 days));
        expectRefusedBy(
            way, order, sign(order), abi.encodeWithSelector(IPaymentGateway.PaymentDeadlinePassed.selector, order.payBy)
        );
    }

    function test_reverts_whenPaused(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        vm.prank(guardian);
        gateway.pause();
        expectRefusedBy(way, order, sign(order), abi.encodeWithSelector(IAccess.ContractPaused.selector));
    }

    function test_reverts_whenTheTermsAreNotAcceptable(uint256 seed, uint8 wayOf, uint8 which) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        bytes memory reason = spoil(order, which % 11);
        expectRefusedBy(way, order, sign(order), reason);
    }

    /// @dev Nobody is the zero address or the gateway, so for the payer's own transactions this cannot come up.
    function test_reverts_whenTheRefundAddressIsZeroOrTheGateway(uint256 seed, uint8 wayOf, bool isZero) public {
        Way way = [Way.Authorization, Way.Permit2, Way.Deposit][wayOf % 3];
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.payer = isZero ? address(0) : address(gateway);
        expectRefusedBy(
            way,
            order,
            sign(order),
            isZero
                ? abi.encodeWithSelector(IAccess.ZeroAddress.selector)
                : abi.encodeWithSelector(IPaymentGateway.WrongRecipient.selector, address(gateway))
        );
    }

    function test_reverts_whenAnyBitOfTheOrderIsFlipped(uint256 seed, uint8 wayOf, uint16 bit) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        bytes memory data = callOf(way, order, sign(order));
        uint256 place = 32 + bit % (13 * 256);
        data[place / 8] = bytes1(uint8(data[place / 8]) ^ uint8(1 << (7 - place % 8)));
        vm.prank(senderOf(way, order));
        (bool success,) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "an order with a flipped bit was paid");
    }

    function test_reverts_whenTheServiceDidNotSign(uint256 seed, uint8 wayOf, uint8 which) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        bytes memory signature = sign(order);
        if (which % 4 == 0) signature = signDigest(keyOf("payer"), digestOf(order));
        if (which % 4 == 1) signature = mirror(signature);
        if (which % 4 == 2) {
            IPaymentGateway.Order memory other = anySignedOrder(~seed);
            signature = sign(other);
        }
        if (which % 4 == 3) {
            vm.prank(guardian);
            gateway.setSigner(signer, false);
        }
        expectRefusedBy(way, order, signature, abi.encodeWithSelector(IPaymentGateway.InvalidSignature.selector));
    }

    /// @dev One session, several orders and ways, one payment: also within one block.
    function test_reverts_whenTheKeyIsUsed(uint256 seed, uint256 otherSeed, uint8 wayOf, uint8 otherWay, bool same)
        public
    {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        payBy(anyWay(wayOf), order);
        IPaymentGateway.Order memory other = same ? order : anySignedOrder(otherSeed);
        other.metaData = order.metaData;
        Way way = anyWay(otherWay);
        fundFor(way, other);
        expectRefusedBy(
            way, other, sign(other), abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, order.metaData)
        );
    }

    function test_reverts_whenTheMoneyIsShort(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        address source = way == Way.Deposit ? gateway.receiverOf(digestOf(order)) : payer;
        vm.prank(source);
        LocalUsdc(order.token).transfer(stranger, 1);
        expectFailure(way, order);
        // The missing unit is all that was missing.
        give(order.token, source, 1);
        sendAs(senderOf(way, order), callOf(way, order, sign(order)));
    }

    function test_reverts_whenTheSourceIsBlocked(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(way, order);
        address source = way == Way.Deposit ? gateway.receiverOf(digestOf(order)) : payer;
        vm.prank(minter);
        LocalUsdc(order.token).blacklist(source);
        expectFailure(way, order);
    }

    function test_reverts_whenTheMerchantOfADirectOrderIsBlocked(uint256 seed, uint8 wayOf) public {
        Way way = anyWay(wayOf);
        IPaymentGateway.Order memory order = directOrder(seed);
        order.fee = order.total == order.payment ? order.payment / 2 : order.fee;
        fundFor(way, order);
        vm.prank(minter);
        LocalUsdc(order.token).blacklist(merchant);
        expectFailure(way, order);
    }

    /// @dev Spoils one term and answers how that is refused.
    function spoil(IPaymentGateway.Order memory order, uint8 which) private view returns (bytes memory) {
        if (which == 0) {
            order.orderType = 4;
            return abi.encodeWithSelector(IPaymentGateway.UnsupportedOrderType.selector, 4);
        }
        if (which == 1) {
            order.targetChain = 0;
            return abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, 0);
        }
        if (which == 2) {
            order.orderType = DIRECT;
            order.targetChain = OTHER_CHAIN;
            return abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, OTHER_CHAIN);
        }
        if (which == 3) {
            order.token = address(0);
            return abi.encodeWithSelector(IAccess.ZeroAddress.selector);
        }
        if (which == 4) {
            order.to = address(0);
            return abi.encodeWithSelector(IAccess.ZeroAddress.selector);
        }
        if (which == 5) {
            order.to = address(gateway);
            return abi.encodeWithSelector(IPaymentGateway.WrongRecipient.selector, address(gateway));
        }
        if (which >= 9) {
            order.reclaimAt = uint64(which == 9 ? order.payBy + 2 days - 1 : block.timestamp + 120 days + 1);
            return abi.encodeWithSelector(IPaymentGateway.WrongReclaimTime.selector, order.payBy, order.reclaimAt);
        }
        if (which == 6) order.total += 1;
        if (which == 7) (order.total, order.payment, order.fee) = (0, 0, 0);
        if (which == 8) (order.total, order.payment) = (MAX_TOTAL + 1, MAX_TOTAL + 1);
        if (which == 6 && order.total == order.payment + order.fee) order.total += 1;
        return abi.encodeWithSelector(IPaymentGateway.WrongAmounts.selector, order.total, order.payment, order.fee);
    }

    function directOrder(uint256 seed) private view returns (IPaymentGateway.Order memory order) {
        order = anySignedOrder(seed);
        order.orderType = DIRECT;
        order.targetChain = uint64(block.chainid);
        order.via = address(0);
    }

    /// @dev By the token or by Permit2, in their own words.
    function expectFailure(Way way, IPaymentGateway.Order memory order) private {
        bytes32 before = slotOf(order);
        bytes memory data = callOf(way, order, sign(order));
        vm.prank(senderOf(way, order));
        (bool success,) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(slotOf(order), before, "the slot is as before");
    }
}
