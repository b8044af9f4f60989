// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "../src/interfaces/IAccess.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract PayTermsTest is GatewayTest {
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
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        order.to = address(gateway);
        fund(order);
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.WrongRecipient.selector, address(gateway))
        );
    }

    function test_reverts_whenTheOrderTypeIsUnknown(uint256 seed, uint8 orderType) public {
        orderType = uint8(bound(orderType, CCTP + 1, type(uint8).max));
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

    function test_reverts_whenACctpOrderNamesThisChainOrNone(uint256 seed, bool here) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, CCTP);
        order.targetChain = here ? uint64(block.chainid) : 0;
        fund(order);
        expectRefused(
            order, sign(order), abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, order.targetChain)
        );
    }

    function test_reverts_whenNothingOrTheGatewayIsNamedToLeaveThrough(uint256 seed, bool burns, bool itself) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, burns ? CCTP : VAULT_PAYOUT);
        order.via = itself ? address(gateway) : address(0);
        fund(order);
        expectRefused(order, sign(order), wrongVia(order));
    }

    /// @dev What goes to the recipient alone names nothing else, not even the vault.
    function test_reverts_whenASameChainOrderLeavesThroughAnything(uint256 seed, bool direct, address via) public {
        vm.assume(via != address(0));
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        fund(order);
        address[3] memory all = [vault, address(route), via];
        for (uint256 i = 0; i < all.length; ++i) {
            order.via = all[i];
            expectRefused(order, sign(order), wrongVia(order));
        }
    }

    /// @dev Each order leaves through what it names: another vault or route changes no order that was signed before.
    function test_leavesThroughWhatTheOrderNames(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, VAULT_PAYOUT);
        IPaymentGateway.Order memory other = anyOrderOf(seed, VAULT_PAYOUT);
        (other.metaData, other.via) = (keccak256("other"), account("another vault"));
        pay(order);
        pay(other);
        settleAs(settler, order);
        settleAs(settler, other);
        vm.assertEq(balance(order.token, vault), netOf(order), "its vault");
        vm.assertEq(balance(other.token, other.via), netOf(other), "the other's vault");
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

    function test_takesTheLargestTotalOfEveryType() public {
        for (uint8 orderType = 0; orderType < ORDER_TYPES; ++orderType) {
            HostileToken token = new HostileToken();
            IPaymentGateway.Order memory order = anyOrderOf(orderType, orderType);
            order.token = address(token);
            (order.total, order.payment, order.fee) = (MAX_TOTAL, MAX_TOTAL, MAX_TOTAL);
            pay(order);
            vm.assertEq(statusOf(order), orderType == DIRECT ? SETTLED : PAID, "status");
        }
    }

    /// @dev Payments that make up for the total, or the total without the fee, only modulo 2^256.
    function test_reverts_whenThePaymentWraps(uint256 seed) public {
        for (uint8 i = 0; i < 2 * ORDER_TYPES; ++i) {
            IPaymentGateway.Order memory order = anyOrderOf(pick(seed, i), i % ORDER_TYPES);
            unchecked {
                order.payment = (i < ORDER_TYPES ? 0 : order.fee) - order.total;
            }
            if (order.payment == 0) continue;
            expectRefused(order, sign(order), wrongAmounts(order));
        }
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

    /// @dev Signed with the dirty bits in place: not even a leaked signer can make the gateway store such an order.
    function test_reverts_whenUpperBitsAreDirty(uint256 seed, uint8 which, uint8 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        // payer, token, to, payBy, reclaimAt, orderType, targetChain, via: word and width
        uint256[2][8] memory fields = [
            [uint256(2), 160],
            [uint256(3), 160],
            [uint256(4), 160],
            [uint256(8), 64],
            [uint256(9), 64],
            [uint256(10), 8],
            [uint256(11), 64],
            [uint256(12), 160]
        ];
        uint256[2] memory field = fields[which % 8];
        bytes memory words = abi.encode(order);
        flip(words, field[0] * 256 + bit % (256 - field[1]));
        bytes32 typeHash = keccak256(
            "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)"
        );
        bytes32 digest = keccak256(
            abi.encodePacked(hex"1901", gateway.domainSeparator(), keccak256(abi.encodePacked(typeHash, words)))
        );
        bytes memory signature = signDigest(keyOf("order signer"), digest);
        bytes memory data =
            abi.encodePacked(IPaymentGateway.pay.selector, words, uint256(0x1c0), uint256(65), signature, bytes31(0));
        vm.prank(payer);
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "dirty bits were paid");
        vm.assertEq(answer.length, 0, "refused for another reason than by the decoder");
    }

    /// @dev The narrowest dirty bit of each word, where anyone may be the sender, so that nothing else stops it.
    function test_reverts_whenTheLowestUpperBitIsDirtyAndAnyoneSends() public {
        IPaymentGateway.Order memory order = plainOrder();
        uint256[2][8] memory fields = [
            [uint256(2), 160],
            [uint256(3), 160],
            [uint256(4), 160],
            [uint256(8), 64],
            [uint256(9), 64],
            [uint256(10), 8],
            [uint256(11), 64],
            [uint256(12), 160]
        ];
        for (uint256 i = 0; i < fields.length; ++i) {
            bytes memory words = abi.encode(order);
            flip(words, fields[i][0] * 256 + 255 - fields[i][1]);
            expectMalformed(words);
        }
    }

    /// @dev Addresses whose lower bits are all zero, so that a check of those alone finds nothing.
    function test_reverts_whenOnlyUpperBitsAreThere() public {
        IPaymentGateway.Order memory order = plainOrder();
        (order.payer, order.token, order.to) = (address(1 << 96), address(2 << 96), address(3 << 96));
        vm.etch(order.token, address(new HostileToken()).code);
        for (uint256 field = 2; field < 5; ++field) {
            bytes memory words = abi.encode(order);
            flip(words, field * 256 + 255 - 200);
            expectMalformed(words);
        }
    }

    /// @dev Any time that leaves less than two days for the settlement: also none, and one that has long passed.
    function test_reverts_whenReclaimAtIsTooEarly(uint256 seed, uint256 early, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        fund(order);
        uint256 least = order.payBy + 2 days;
        uint64[3] memory times = [uint64(least - 1), uint64(bound(early, 0, least - 1)), 0];
        for (uint256 i = 0; i < times.length; ++i) {
            order.reclaimAt = times[i];
            expectRefused(order, sign(order), wrongReclaimTime(order));
        }
        order.reclaimAt = uint64(least);
        payAs(payer, order, sign(order));
    }

    /// @dev Nobody's money waits for longer, whatever the service signs.
    function test_reverts_whenReclaimAtIsTooLate(uint256 seed, uint256 late, uint8 orderType) public {
        IPaymentGateway.Order memory order = anyOrderOf(seed, orderType % ORDER_TYPES);
        fund(order);
        uint256 most = START + 120 days;
        uint64[3] memory times = [uint64(most + 1), uint64(bound(late, most + 1, type(uint64).max)), type(uint64).max];
        for (uint256 i = 0; i < times.length; ++i) {
            order.reclaimAt = times[i];
            expectRefused(order, sign(order), wrongReclaimTime(order));
        }
        order.reclaimAt = uint64(most);
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenPayByIsTheLastSecondOfAll() public {
        IPaymentGateway.Order memory order = plainOrder();
        (order.payBy, order.reclaimAt) = (type(uint64).max, type(uint64).max);
        fund(order);
        expectRefused(order, sign(order), wrongReclaimTime(order));
    }

    function wrongReclaimTime(IPaymentGateway.Order memory order) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.WrongReclaimTime.selector, order.payBy, order.reclaimAt);
    }

    function wrongVia(IPaymentGateway.Order memory order) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.WrongVia.selector, order.orderType, order.via);
    }

    function wrongAmounts(IPaymentGateway.Order memory order) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IPaymentGateway.WrongAmounts.selector, order.total, order.payment, order.fee);
    }

    /// @dev Signed by the service, sent by anyone, with the deposit in place.
    function expectMalformed(bytes memory words) private {
        bytes32 typeHash = keccak256(
            "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)"
        );
        bytes32 structHash = keccak256(abi.encodePacked(typeHash, words));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", gateway.domainSeparator(), structHash));
        uint256 token;
        assembly ("memory-safe") {
            token := mload(add(words, 0x80))
        }
        give(address(uint160(token)), gateway.receiverOf(digest), 100e6);
        bytes memory signature = signDigest(keyOf("order signer"), digest);
        (bool success, bytes memory answer) = callRaw(
            address(gateway),
            abi.encodePacked(
                IPaymentGateway.collect.selector, words, uint256(0x1c0), uint256(65), signature, bytes31(0)
            )
        );
        vm.assertEq(success, false, "dirty bits were paid");
        vm.assertEq(answer.length, 0, "refused for another reason than by the decoder");
    }

    /// @dev Bits count from the first byte's highest.
    function flip(bytes memory data, uint256 bit) private pure {
        data[bit / 8] = bytes1(uint8(data[bit / 8]) ^ uint8(1 << (7 - bit % 8)));
    }
}
