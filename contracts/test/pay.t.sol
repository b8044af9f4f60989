// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {Wallet} from "./hostile/wallets.sol";

contract PayTest is GatewayTest {
    function test_takesExactlyTheTotalIntoEscrow(uint256 seed, bool toVault) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, toVault ? VAULT_PAYOUT : ESCROW);
        bytes32 orderId = pay(order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
        vm.assertEq(balance(order.token, merchant), 0, "merchant");
        vm.assertEq(gateway.accruedFees(order.token), 0, "a fee accrues at settlement");
        (uint8 status, uint40 paidAt, uint208 id) = gateway.statusOf(order.metaData);
        vm.assertEq(status, PAID, "status");
        vm.assertEq(paidAt, block.timestamp, "paid at");
        vm.assertEq(id, uint256(orderId) >> 48, "id");
    }

    function test_paysMerchantAndFeeAtOnceWhenDirect(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        pay(order);
        vm.assertEq(balance(order.token, payer), 0, "payer");
        vm.assertEq(balance(order.token, address(gateway)), 0, "residue");
        vm.assertEq(balance(order.token, merchant), netOf(order), "merchant");
        vm.assertEq(balance(order.token, feeRecipient), order.fee, "fee recipient");
        vm.assertEq(gateway.accruedFees(order.token), 0, "accrued");
        vm.assertEq(statusOf(order), SETTLED, "status");
    }

    function test_emitsPaid(uint256 seed, bool toVault) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, toVault ? VAULT_PAYOUT : ESCROW);
        fund(order);
        bytes memory signature = sign(order);
        vm.recordLogs();
        expectPaid(order);
        payAs(payer, order, signature);
    }

    function test_emitsPaidAndSettledWhenDirect(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        fund(order);
        bytes memory signature = sign(order);
        expectPaid(order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Settled(
            digestOf(order), order.channelId, order.to, order.token, netOf(order), order.fee, order.metaData
        );
        payAs(payer, order, signature);
    }

    function test_paysInEveryLocalToken(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = [address(usdc), address(usdt), address(dai)][which % 3];
        pay(order);
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
    }

    function test_paysFromAWalletContract(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        Wallet wallet = new Wallet();
        order.payer = address(wallet);
        fund(order);
        wallet.execute(address(gateway), abi.encodeCall(IPaymentGateway.pay, (order, sign(order))));
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_paysFromADelegatedAccount(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.signAndAttachDelegation(address(new Wallet()), keyOf("payer"));
        Wallet(payer).execute(address(gateway), abi.encodeCall(IPaymentGateway.pay, (order, sign(order))));
        vm.assertEq(payer.code.length, 23, "delegation");
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_paysAtTheLastSecond(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        vm.warp(order.payBy);
        pay(order);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_reverts_whenTheDeadlineHasPassed(uint256 seed, uint256 late) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.warp(order.payBy + bound(late, 1, 365 days));
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.PaymentDeadlinePassed.selector, order.payBy)
        );
    }

    function test_reverts_whenPaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.prank(guardian);
        gateway.pause();
        expectRefused(order, sign(order), abi.encodeWithSelector(IAccess.ContractPaused.selector));
        vm.prank(admin);
        gateway.unpause();
        payAs(payer, order, sign(order));
        vm.assertEq(statusOf(order), PAID, "status after the pause");
    }

    function test_reverts_whenTheCallerIsNotThePayer(uint256 seed, address caller) public {
        vm.assume(caller != payer);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, caller, payer));
        payAs(caller, order, signature);
    }

    function test_reverts_whenThePayerIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payer = address(0);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.NotPayer.selector, payer, address(0)));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheTokenIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(0);
        expectRefused(order, sign(order), abi.encodeWithSelector(IAccess.ZeroAddress.selector));
    }

    function test_reverts_whenTheRecipientIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.to = address(0);
        expectRefused(order, sign(order), abi.encodeWithSelector(IAccess.ZeroAddress.selector));
    }

    function test_reverts_whenTheRecipientIsTheGateway(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % 3);
        order.to = address(gateway);
        fund(order);
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.WrongRecipient.selector, address(gateway))
        );
    }

    function test_reverts_whenTheTokenHasNoCode(uint256 seed, address token) public {
        vm.assume(token.code.length == 0 && uint160(token) > 0xffff);
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = token;
        expectRefused(order, sign(order), abi.encodeWithSelector(TokenTransfer.BalanceUnavailable.selector, token));
    }

    function test_reverts_whenTheOrderTypeIsUnknown(uint256 seed, uint8 orderType) public {
        orderType = uint8(bound(orderType, VAULT_PAYOUT + 1, type(uint8).max));
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType);
        fund(order);
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.UnsupportedOrderType.selector, orderType)
        );
    }

    function test_reverts_whenASameChainOrderNamesAnotherChain(uint256 seed, uint64 chain, bool direct) public {
        vm.assume(chain != block.chainid);
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.targetChain = chain;
        fund(order);
        expectRefused(order, sign(order), abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, chain));
    }

    function test_reverts_whenAVaultPayoutNamesNoChain(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, VAULT_PAYOUT);
        order.targetChain = 0;
        fund(order);
        expectRefused(order, sign(order), abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, 0));
    }

    function test_aVaultPayoutMayNameThisChainForAnotherToken(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, VAULT_PAYOUT);
        order.targetChain = uint64(block.chainid);
        fund(order);
        payAs(payer, order, sign(order));
        vm.assertEq(gateway.orderStatus(order), 1, "status");
    }

    function test_reverts_whenTheAmountsDoNotFit(uint256 total, uint256 payment, uint256 fee) public {
        // Half of the runs stay near each other, where the sums can meet.
        if (total % 2 == 0) {
            (total, payment, fee) = (bound(total, 0, 6), bound(payment, 0, 6), bound(fee, 0, 6));
        }
        bool fits = total != 0 && total <= MAX_TOTAL && fee <= total && payment <= total
            && (total == payment || total - payment == fee);
        IPaymentGateway.Order memory order = plainOrder();
        (order.total, order.payment, order.fee) = (total, payment, fee);
        if (fits) {
            pay(order);
            return;
        }
        expectRefused(order, sign(order), wrongAmounts(order));
    }

    function test_reverts_whenTheTotalIsZero() public {
        IPaymentGateway.Order memory order = plainOrder();
        (order.total, order.payment, order.fee) = (0, 0, 0);
        expectRefused(order, sign(order), wrongAmounts(order));
    }

    function test_reverts_whenTheTotalIsOneOffEitherSum(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payment = bound(order.payment, 4, MAX_TOTAL / 4);
        order.fee = bound(order.fee, 3, order.payment - 1);
        uint256 sum = which % 2 == 0 ? order.payment : order.payment + order.fee;
        order.total = which % 4 < 2 ? sum - 1 : sum + 1;
        fund(order);
        expectRefused(order, sign(order), wrongAmounts(order));
    }

    function test_takesTheLargestTotalAndNotOneMore() public {
        IPaymentGateway.Order memory order = plainOrder();
        (order.total, order.payment) = (MAX_TOTAL + 1, MAX_TOTAL + 1);
        fund(order);
        expectRefused(order, sign(order), wrongAmounts(order));
        (order.total, order.payment) = (MAX_TOTAL, MAX_TOTAL);
        payAs(payer, order, sign(order));
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_reverts_whenTheFeeExceedsTheTotalByOne(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.total = order.payment;
        order.fee = order.total + 1;
        fund(order);
        expectRefused(order, sign(order), wrongAmounts(order));
    }

    function test_reverts_whenTheSumWouldWrap(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payment = order.total + 1;
        unchecked {
            // payment + fee == total, modulo 2^256.
            order.fee = order.total - order.payment;
        }
        fund(order);
        expectRefused(order, sign(order), wrongAmounts(order));
    }

    function test_reverts_whenTheMetaDataIsZero(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.metaData = bytes32(0);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, bytes32(0)));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheOrderWasPaid(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % 3);
        pay(order);
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, order.metaData));
        payAs(payer, order, signature);
    }

    function test_reverts_whenTheOrderIsFinal(uint256 seed, uint8 ending) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payBy = type(uint64).max;
        pay(order);
        if (ending % 3 == 0) {
            settleOne(order);
        } else if (ending % 3 == 1) {
            vm.prank(settler);
            gateway.refund(order);
        } else {
            vm.warp(order.reclaimAt);
            vm.prank(payer);
            gateway.reclaim(order);
        }
        fund(order);
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, order.metaData));
        payAs(payer, order, signature);
    }

    function test_reverts_whenAnotherOrderOfTheSessionWasPaid(uint256 seed, uint256 otherSeed, uint8 types) public {
        IPaymentGateway.Order memory first = anyOrderOf(seed, types % 3);
        IPaymentGateway.Order memory second = anyOrderOf(otherSeed, types / 3 % 3);
        second.metaData = first.metaData;
        second.payer = stranger;
        pay(first);
        fund(second);
        bytes memory signature = sign(second);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.MetaDataUsed.selector, first.metaData));
        payAs(stranger, second, signature);
        vm.assertEq(statusOf(second), UNKNOWN, "the loser has no status");
    }

    function test_reverts_whenTheSignerIsNotTheService(uint256 seed, uint256 key) public {
        key = bound(key, 1, CURVE_ORDER - 1);
        vm.assume(vm.addr(key) != signer);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(key, digestOf(order)));
    }

    function test_reverts_whenTheSignerIsRevoked(uint256 seed, bool byGuardian) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.prank(byGuardian ? guardian : admin);
        gateway.setOrderSigner(signer, false);
        expectInvalid(order, sign(order));
    }

    function test_takesEverySignerUntilItIsRevoked(uint256 seed) public {
        address second = account("second signer");
        vm.prank(admin);
        gateway.setOrderSigner(second, true);
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.payBy = type(uint64).max;
        pay(order);
        order.metaData = keccak256("by the second");
        fund(order);
        bytes memory signature = signDigest(keyOf("second signer"), digestOf(order));
        payAs(payer, order, signature);
        // Revoking the latest leaves the earlier one, and the other way round.
        vm.prank(guardian);
        gateway.setOrderSigner(second, false);
        order.metaData = keccak256("after the second");
        fund(order);
        expectInvalid(order, signDigest(keyOf("second signer"), digestOf(order)));
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenTheSignatureIsNotCanonical(uint256 seed, uint8 form, uint8 v) public {
        vm.assume(v != 27 && v != 28);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory good = sign(order);
        (bytes32 r, uint256 s, uint8 goodV) = split(good);
        bytes[7] memory forms = [
            mirror(good),
            abi.encodePacked(r, s, v),
            abi.encodePacked(r, s, goodV - 27),
            abi.encodePacked(r, s | (uint256(goodV - 27) << 255)),
            abi.encodePacked(good, uint8(0)),
            abi.encodePacked(r, s),
            bytes("")
        ];
        expectInvalid(order, forms[form % 7]);
    }

    function test_reverts_whenRecoveryFails(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, new bytes(65));
        expectInvalid(order, abi.encodePacked(bytes32(0), uint256(1), uint8(27)));
        expectInvalid(order, abi.encodePacked(uint256(CURVE_ORDER), uint256(1), uint8(27)));
    }

    function test_reverts_whenAnyBitOfTheOrderIsFlipped(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory data = abi.encodeCall(IPaymentGateway.pay, (order, sign(order)));
        flip(data, 4 * 8 + bit % (12 * 256));
        vm.prank(payer);
        (bool success,) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "an order with a flipped bit was paid");
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_reverts_whenAnyBitOfTheSignatureIsFlipped(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        flip(signature, bit % (65 * 8));
        expectInvalid(order, signature);
    }

    /// @dev Signed with the dirty bits in place: not even a leaked signer can make the gateway store such an order.
    function test_reverts_whenUpperBitsAreDirty(uint256 seed, uint8 which, uint8 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        // payer, token, to, payBy, reclaimAt, orderType, targetChain: word and width
        uint256[2][7] memory fields = [
            [uint256(2), 160],
            [uint256(3), 160],
            [uint256(4), 160],
            [uint256(8), 64],
            [uint256(9), 64],
            [uint256(10), 8],
            [uint256(11), 64]
        ];
        uint256[2] memory field = fields[which % 7];
        bytes memory words = abi.encode(order);
        flip(words, field[0] * 256 + bit % (256 - field[1]));
        bytes32 typeHash = keccak256(
            "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain)"
        );
        bytes32 digest = keccak256(
            abi.encodePacked(hex"1901", gateway.domainSeparator(), keccak256(abi.encodePacked(typeHash, words)))
        );
        bytes memory signature = signDigest(keyOf("order signer"), digest);
        bytes memory data =
            abi.encodePacked(IPaymentGateway.pay.selector, words, uint256(0x1a0), uint256(65), signature, bytes31(0));
        vm.prank(payer);
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "dirty bits were paid");
        vm.assertEq(answer.length, 0, "refused for another reason");
    }

    function test_reverts_whenSignedForAnotherChain(uint256 seed, uint64 chain) public {
        vm.assume(chain != block.chainid);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(keyOf("order signer"), digestFor(order, address(gateway), chain)));
    }

    function test_reverts_whenSignedForAnotherContract(uint256 seed, address other) public {
        vm.assume(other != address(gateway));
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(keyOf("order signer"), digestFor(order, other, block.chainid)));
    }

    function test_reverts_whenTheChainForks(uint256 seed, uint64 chain) public {
        vm.assume(chain != block.chainid && chain != 0);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        vm.chainId(chain);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, order.targetChain));
        payAs(payer, order, signature);
        order.targetChain = chain;
        expectInvalid(order, signature);
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenTheAllowanceIsShort(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % 3);
        give(order.token, payer, order.total);
        allow(order.token, payer, order.total - 1);
        bytes memory signature = sign(order);
        vm.expectRevert(transferFailed(order.token));
        payAs(payer, order, signature);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_reverts_whenTheBalanceIsShort(uint256 seed, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % 3);
        give(order.token, payer, order.total - 1);
        allow(order.token, payer, order.total);
        expectRefused(order, sign(order), transferFailed(order.token));
    }

    function test_reverts_whenThePayerIsBlocked(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        fund(order);
        vm.prank(minter);
        usdc.blacklist(payer);
        expectRefused(order, sign(order), transferFailed(address(usdc)));
    }

    function test_reverts_whenTheTokenIsPaused(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        order.token = address(usdc);
        fund(order);
        vm.prank(minter);
        usdc.pause();
        expectRefused(order, sign(order), transferFailed(address(usdc)));
    }

    function test_reverts_whenUsdtWakesItsFee(uint256 seed, bool direct) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.token = address(usdt);
        (order.total, order.payment, order.fee) = (100e6, 100e6, 1e6);
        fund(order);
        vm.prank(minter);
        usdt.setParams(20);
        uint256 leg = direct ? 99e6 : 100e6;
        expectRefused(order, sign(order), inexact(address(usdt), leg, leg - leg / 500));
    }

    function test_reverts_whenADirectLegComesBackToThePayer(uint256 seed, bool feeLeg) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, DIRECT);
        (order.total, order.payment, order.fee) = (100, 100, 1);
        order.payer = feeLeg ? feeRecipient : merchant;
        fund(order);
        expectRefused(order, sign(order), inexact(order.token, feeLeg ? 1 : 99, 0));
    }

    function test_reverts_whenTheTokenIsHostile(uint256 seed, uint8 orderType) public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % 3);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        fund(order);
        uint256 leg = order.orderType == DIRECT ? 990 : 1_000;
        bytes memory failed = transferFailed(address(token));
        for (uint8 mode = 1; mode <= uint8(HostileToken.Mode.BurnsGas); ++mode) {
            HostileToken.Mode how = HostileToken.Mode(mode);
            if (how == HostileToken.Mode.AnswersWithBomb) continue;
            token.set(how, address(0));
            bytes memory reason = failed;
            if (how == HostileToken.Mode.TakesFee) reason = inexact(address(token), leg, leg - (leg / 100 + 1));
            if (how == HostileToken.Mode.LiesAboutMoving) reason = inexact(address(token), leg, 0);
            if (how == HostileToken.Mode.DeliversTooMuch) reason = inexact(address(token), leg, leg + 1);
            bytes memory signature = sign(order);
            if (how == HostileToken.Mode.BurnsGas) {
                vm.prank(payer);
                (bool success,) =
                    address(gateway).call{gas: 1_000_000}(abi.encodeCall(IPaymentGateway.pay, (order, signature)));
                vm.assertEq(success, false, "gas burner");
            } else {
                expectRefused(order, signature, reason);
            }
        }
        // A huge answer that begins with true is true, and costs nothing here.
        token.set(HostileToken.Mode.AnswersWithBomb, address(0));
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenTheFeeLegIsInexact() public {
        HostileToken token = new HostileToken();
        IPaymentGateway.Order memory order = anyOrderOf(1, DIRECT);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        fund(order);
        token.set(HostileToken.Mode.TakesFee, feeRecipient);
        expectRefused(order, sign(order), inexact(address(token), 10, 9));
        vm.assertEq(balance(address(token), merchant), 0, "merchant");
    }

    function expectPaid(IPaymentGateway.Order memory order) private {
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Paid(
            digestOf(order),
            order.channelId,
            order.payer,
            order.to,
            order.token,
            order.total,
            order.payment,
            order.fee,
            order.orderType,
            order.metaData
        );
    }

    function expectInvalid(IPaymentGateway.Order memory order, bytes memory signature) private {
        expectRefused(order, signature, abi.encodeWithSelector(IPaymentGateway.InvalidSignature.selector));
    }

    function wrongAmounts(IPaymentGateway.Order memory order) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.WrongAmounts.selector, order.total, order.payment, order.fee);
    }

    function inexact(address token, uint256 expected, uint256 received) private pure returns (bytes memory) {
        return abi.encodeWithSelector(TokenTransfer.InexactTransfer.selector, token, expected, received);
    }

    /// @dev Bits count from the first byte's highest.
    function flip(bytes memory data, uint256 bit) private pure {
        data[bit / 8] = bytes1(uint8(data[bit / 8]) ^ uint8(1 << (7 - bit % 8)));
    }
}
