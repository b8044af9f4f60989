// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../interfaces/IPaymentGateway.sol";
import {Signature} from "../libraries/Signature.sol";
import {Access} from "./Access.sol";
import {Domain} from "./Domain.sol";

/// @title Which orders may be paid, and what has become of them
/// @dev All ways to pay come through `_open`, which is written for gas: every payment of every payer runs it.
abstract contract OrderBook is IPaymentGateway, Access, Domain {
    uint256 internal constant TYPE_DIRECT = 1;
    uint256 internal constant TYPE_VAULT_PAYOUT = 2;
    uint256 internal constant TYPE_CCTP = 3;

    uint8 internal constant STATUS_UNKNOWN = 0;
    uint8 internal constant STATUS_PAID = 1;
    uint8 internal constant STATUS_SETTLED = 2;
    uint8 internal constant STATUS_REFUNDED = 3;
    uint8 internal constant STATUS_RECLAIMED = 4;
    uint8 private constant STATUS_BURNT = 255;

    /// @dev Twelve words of an order, as they lie in calldata.
    uint256 internal constant ORDER_SIZE = 0x180;
    /// @dev Every function that pays takes the order first, so that its words lie right behind the selector. Reading them
    /// at places that the compiler knows saves 6 gas a word, at sums of places 12.
    uint256 internal constant PAID_ORDER = 0x04;
    uint256 internal constant PAID_METADATA = 0x24;
    uint256 internal constant PAID_PAYER = 0x44;
    uint256 internal constant PAID_TOKEN = 0x64;
    uint256 internal constant PAID_TO = 0x84;
    uint256 internal constant PAID_TOTAL = 0xa4;
    uint256 internal constant PAID_PAYMENT = 0xc4;
    uint256 internal constant PAID_FEE = 0xe4;
    uint256 internal constant PAID_PAY_BY = 0x104;
    uint256 internal constant PAID_RECLAIM_AT = 0x124;
    uint256 internal constant PAID_TYPE = 0x144;
    uint256 internal constant PAID_TARGET_CHAIN = 0x164;
    /// @dev Below the truncated id a slot holds 40 bits of time and 8 bits of status.
    uint256 private constant ID_SHIFT = 48;
    uint256 private constant ID_MASK = 0xffffffffffffffffffffffffffffffffffffffffffffffffffff000000000000;
    /// @dev Totals below 2^128 make every sum over a batch fit, so a token with absurd balances cannot stop one.
    uint256 private constant MAX_TOTAL = type(uint128).max;
    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain)"
    );
    bytes32 private constant PAID_TOPIC =
        keccak256("Paid(bytes32,bytes32,address,address,address,uint256,uint256,uint256,uint8,bytes32)");

    bytes32 private constant SETTLED_TOPIC =
        keccak256("Settled(bytes32,bytes32,address,address,uint256,uint256,bytes32)");

    /// @dev An order as its twelve words lie in calldata. Reading these members skips the compiler's range checks. That
    /// is sound after `_checkTerms`, which makes them, and where the id was found paid, because the same words passed
    /// `_checkTerms` then. It saves 60 gas a read.
    struct Words {
        bytes32 channelId;
        bytes32 metaData;
        uint256 payer;
        uint256 token;
        uint256 to;
        uint256 total;
        uint256 payment;
        uint256 fee;
        uint256 payBy;
        uint256 reclaimAt;
        uint256 orderType;
        uint256 targetChain;
    }

    /// @dev Upper 208 bits of the order's id | paidAt (40) | status (8). Never cleared.
    struct Slot {
        uint256 word;
    }

    mapping(bytes32 metaData => Slot) internal _slots;
    /// @inheritdoc IPaymentGateway
    address public immutable cctpRoute;

    constructor(address cctpRoute_) {
        cctpRoute = cctpRoute_;
        _slots[bytes32(0)].word = STATUS_BURNT;
    }

    /// @inheritdoc IPaymentGateway
    function statusOf(bytes32 metaData) external view returns (uint8 status, uint40 paidAt, uint208 truncatedOrderId) {
        uint256 word = _slots[metaData].word;
        return (uint8(word), uint40(word >> 8), uint208(word >> ID_SHIFT));
    }

    /// @inheritdoc IPaymentGateway
    function orderStatus(Order calldata order) external view returns (uint8) {
        return _statusIn(_slots[order.metaData].word, orderIdOf(order));
    }

    /// @inheritdoc IPaymentGateway
    /// @dev Hashes the words as they came. Words with dirty upper bits give an id that nothing was ever paid under,
    /// because `_checkTerms` refuses them.
    function orderIdOf(Order calldata order) public view returns (bytes32) {
        return _idOf(_wordsOf(order), domainSeparator());
    }

    /// @dev Uses the key of the order at `PAID_ORDER` up for a payment now: checks terms, consent of the service and key,
    /// stores status and time, and emits `Paid`. What is left to the caller is the payer's consent and the money. Direct
    /// orders are settled with that.
    ///
    /// Memory from 0x80 on is written over, so this comes before anything is allocated. By
    /// hand: the compiler's own code costs 1,500 gas more.
    function _open(bytes calldata signature) internal returns (bytes32 orderId) {
        if (!_hasPlainTerms()) _checkTerms(_paidOrder());
        bytes32 domain = _separatorOf(block.chainid);
        bytes32 typeHash = ORDER_TYPEHASH;
        assembly ("memory-safe") {
            mstore(0x80, typeHash)
            calldatacopy(0xa0, PAID_ORDER, ORDER_SIZE)
            mstore(0xa2, keccak256(0x80, add(ORDER_SIZE, 0x20)))
            mstore(0x80, hex"1901")
            mstore(0x82, domain)
            orderId := keccak256(0x80, 0x42)
        }
        if (!_isSignerWhenNotPaused(signature.length == 0 ? msg.sender : Signature.recover(orderId, signature))) {
            revert InvalidSignature();
        }
        bytes32 topic = PAID_TOPIC;
        bool isNew;
        assembly ("memory-safe") {
            let metaData := calldataload(PAID_METADATA)
            mstore(0, metaData)
            mstore(0x20, _slots.slot)
            let slot := keccak256(0, 0x40)
            isNew := iszero(sload(slot))
            if isNew {
                let orderType := mload(0x1e0)
                let status := add(STATUS_PAID, eq(orderType, TYPE_DIRECT))
                let paidAt := and(timestamp(), 0xffffffffff)
                sstore(slot, or(and(orderId, ID_MASK), or(shl(8, paidAt), status)))

                // The words from the token on are where they were copied to. Four change places, and make the event: to,
                // token, total, payment, fee, orderType, metaData.
                let to := mload(0x120)
                mstore(0x120, mload(0x100))
                mstore(0x100, to)
                mstore(0x1a0, orderType)
                mstore(0x1c0, metaData)
                log4(0x100, 0xe0, topic, orderId, calldataload(PAID_ORDER), calldataload(PAID_PAYER))
            }
        }
        if (!isNew) revert MetaDataUsed(_paidOrder().metaData);
    }

    /// @dev Moves this very order from paid to a final status.
    function _close(Order calldata order, uint8 finalStatus) internal returns (bytes32 orderId) {
        orderId = orderIdOf(order);
        Slot storage slot = _slots[order.metaData];
        uint8 status = _statusIn(slot.word, orderId);
        if (status != STATUS_PAID) revert OrderNotOpen(orderId, status);
        slot.word = slot.word - STATUS_PAID + finalStatus;
    }

    /// @dev `emit Settled(...)`, by hand because every order of a batch runs it: the compiler's own code costs 200 gas
    /// more. `recipient` is a whole word, so that nothing has to be cleaned for each order.
    function _emitSettled(bytes32 orderId, Words calldata order, uint256 recipient) internal {
        bytes32 topic = SETTLED_TOPIC;
        (bytes32 channelId, bytes32 metaData) = (order.channelId, order.metaData);
        (uint256 token, uint256 total, uint256 fee) = (order.token, order.total, order.fee);
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, token)
            mstore(add(free, 0x20), sub(total, fee))
            mstore(add(free, 0x40), fee)
            mstore(add(free, 0x60), metaData)
            log4(free, 0x80, topic, orderId, channelId, recipient)
        }
    }

    function _idOf(Words calldata order, bytes32 separator) internal pure returns (bytes32 id) {
        bytes32 typeHash = ORDER_TYPEHASH;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typeHash)
            calldatacopy(add(free, 0x20), order, ORDER_SIZE)
            mstore(add(free, 0x22), keccak256(free, add(ORDER_SIZE, 0x20)))
            mstore(free, hex"1901")
            mstore(add(free, 0x02), separator)
            id := keccak256(free, 0x42)
        }
    }

    /// @dev The EIP-712 hash of the order without the domain: the witness for Permit2.
    function _structHashOf(Words calldata order) internal pure returns (bytes32 structHash) {
        bytes32 typeHash = ORDER_TYPEHASH;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typeHash)
            calldatacopy(add(free, 0x20), order, ORDER_SIZE)
            structHash := keccak256(free, add(ORDER_SIZE, 0x20))
        }
    }

    /// @dev The order of a function that pays.
    function _paidOrder() internal pure returns (Words calldata words) {
        assembly ("memory-safe") {
            words := PAID_ORDER
        }
    }

    function _wordsOf(Order calldata order) internal pure returns (Words calldata words) {
        assembly ("memory-safe") {
            words := order
        }
    }

    function _toAddress(uint256 word) internal pure returns (address) {
        return address(uint160(word));
    }

    /// @dev `_statusIn(word, orderId) == STATUS_PAID`, in one comparison.
    function _isPaid(uint256 word, bytes32 orderId) internal pure returns (bool) {
        return (word ^ uint256(orderId)) & ID_MASK | uint8(word) == STATUS_PAID;
    }

    /// @dev The status in a slot when the slot is this order's, else unknown.
    function _statusIn(uint256 word, bytes32 orderId) internal pure returns (uint8) {
        return (word ^ uint256(orderId)) >> ID_SHIFT == 0 ? uint8(word) : STATUS_UNKNOWN;
    }

    /// @dev Everything that makes an order payable now but its payer, its signature and its key.
    function _checkTerms(Words calldata order) private view {
        (uint256 token, uint256 to, uint256 payBy) = (order.token, order.to, order.payBy);
        (uint256 orderType, uint256 targetChain) = (order.orderType, order.targetChain);
        if ((order.payer | token | to) >> 160 | (payBy | order.reclaimAt | targetChain) >> 64 | orderType >> 8 != 0) {
            revert MalformedOrder();
        }
        if (block.timestamp > payBy) revert PaymentDeadlinePassed(uint64(payBy));
        if (orderType > TYPE_CCTP || (orderType == TYPE_CCTP && cctpRoute == address(0))) {
            revert UnsupportedOrderType(uint8(orderType));
        }
        // Escrow and direct orders pay on this chain, CCTP orders on another, vault payouts on any.
        if (targetChain == block.chainid ? orderType == TYPE_CCTP : orderType < TYPE_VAULT_PAYOUT || targetChain == 0) {
            revert WrongTargetChain(uint64(targetChain));
        }
        if (token == 0 || to == 0) revert ZeroAddress();
        if (to == uint160(address(this))) revert WrongRecipient(address(this));
        (uint256 total, uint256 payment, uint256 fee) = (order.total, order.payment, order.fee);
        unchecked {
            // In this order neither difference can wrap.
            if (
                total == 0 || total > MAX_TOTAL || fee > total || payment > total
                    || (total != payment && total - payment != fee)
            ) revert WrongAmounts(total, payment, fee);
        }
    }

    /// @dev The conditions of `_checkTerms` for types 0 and 1 without a branch, which saves 500 gas: true only for what
    /// `_checkTerms` lets pass. Where it is false, `_checkTerms` decides, and says why.
    function _hasPlainTerms() private view returns (bool holds) {
        assembly ("memory-safe") {
            let token := calldataload(PAID_TOKEN)
            let to := calldataload(PAID_TO)
            let payBy := calldataload(PAID_PAY_BY)
            let targetChain := calldataload(PAID_TARGET_CHAIN)
            let isDirty :=
                or(
                    shr(160, or(or(calldataload(PAID_PAYER), token), to)),
                    shr(64, or(or(payBy, calldataload(PAID_RECLAIM_AT)), targetChain))
                )
            let isUnfit := or(gt(timestamp(), payBy), xor(targetChain, chainid()))
            isUnfit := or(isUnfit, gt(calldataload(PAID_TYPE), TYPE_DIRECT))
            isUnfit := or(isUnfit, or(or(iszero(token), iszero(to)), eq(to, address())))

            let total := calldataload(PAID_TOTAL)
            let fee := calldataload(PAID_FEE)
            // A payment beyond the total wraps to more than the total, so to more than any fee that fits.
            let added := sub(total, calldataload(PAID_PAYMENT))
            let isWrong := or(or(iszero(total), shr(128, total)), gt(fee, total))
            holds := and(iszero(or(or(isDirty, isUnfit), isWrong)), or(iszero(added), eq(added, fee)))
        }
    }
}
