// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../interfaces/IPaymentGateway.sol";
import {Signature} from "../libraries/Signature.sol";
import {Access} from "./Access.sol";
import {Domain} from "./Domain.sol";

/// @title Which orders may be paid, and what has become of them
abstract contract OrderBook is IPaymentGateway, Access, Domain {
    uint8 internal constant TYPE_ESCROW = 0;
    uint8 internal constant TYPE_DIRECT = 1;
    uint8 internal constant TYPE_VAULT_PAYOUT = 2;
    uint8 internal constant TYPE_CCTP = 3;

    uint8 internal constant STATUS_UNKNOWN = 0;
    uint8 internal constant STATUS_PAID = 1;
    uint8 internal constant STATUS_SETTLED = 2;
    uint8 internal constant STATUS_REFUNDED = 3;
    uint8 internal constant STATUS_RECLAIMED = 4;
    uint8 private constant STATUS_UNUSABLE = 255;

    /// @dev How long a paid order can be settled at least and at most. Afterwards anyone may send it back to its payer.
    uint256 private constant LEAST_TIME_TO_SETTLE = 2 days;
    uint256 internal constant MOST_TIME_TO_SETTLE = 120 days;

    /// @dev Totals below 2^128 make every sum over a batch fit, so a token with absurd balances cannot stop one.
    uint256 private constant MAX_TOTAL = type(uint128).max;
    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)"
    );

    /// @dev Thirteen words.
    uint256 private constant ORDER_SIZE = 0x1a0;
    uint256 private constant ID_SHIFT = 48;

    /// @inheritdoc IPaymentGateway
    address public feeRecipient;

    /// @dev A single-use key, in one word that is never cleared: the upper 208 bits of the id of the order that was paid with
    /// it | paidAt (40 bits) | status (8 bits).
    struct Key {
        uint256 word;
    }

    mapping(bytes32 metaData => Key) private _keys;

    constructor() {
        _keys[bytes32(0)].word = STATUS_UNUSABLE;
    }

    /// @inheritdoc IPaymentGateway
    function statusOf(bytes32 metaData) external view returns (uint8 status, uint40 paidAt, uint208 truncatedOrderId) {
        uint256 word = _keys[metaData].word;
        return (uint8(word), uint40(word >> 8), uint208(word >> ID_SHIFT));
    }

    /// @inheritdoc IPaymentGateway
    function orderStatus(Order calldata order) external view returns (uint8) {
        return _statusIn(_keyOf(order).word, orderIdOf(order));
    }

    /// @inheritdoc IPaymentGateway
    function orderIdOf(Order calldata order) public view returns (bytes32) {
        return _digest(domainSeparator(), _hashOrder(order));
    }

    /// @dev Uses the order's key up for a payment now: checks terms, the service's consent and the key, stores status and
    /// time, and emits `Paid`. The payer's consent and the money are left to the caller. A direct order is settled with that.
    /// @param terms The same order in memory. The copy has checked the width of each word, and memory is cheaper to read.
    function _open(Order calldata order, Order memory terms, bytes calldata signature)
        internal
        returns (bytes32 orderId)
    {
        _checkTerms(terms);
        if (paused) revert ContractPaused();
        orderId = orderIdOf(order);
        address signer = signature.length == 0 ? msg.sender : Signature.recover(orderId, signature);
        if (!isSigner[signer]) revert InvalidSignature();
        Key storage key = _keyOf(order);
        if (key.word != 0) revert MetaDataUsed(order.metaData);
        uint8 status = terms.orderType == TYPE_DIRECT ? STATUS_SETTLED : STATUS_PAID;
        key.word = uint256(orderId) >> ID_SHIFT << ID_SHIFT | uint256(uint40(block.timestamp)) << 8 | status;
        _emitPaid(terms, orderId);
    }

    /// @dev Moves this very order from paid to `finalStatus`.
    function _close(Order calldata order, uint8 finalStatus) internal returns (bytes32 orderId) {
        orderId = orderIdOf(order);
        Key storage key = _keyOf(order);
        uint256 word = key.word;
        uint8 status = _statusIn(word, orderId);
        if (status != STATUS_PAID) revert OrderNotOpen(orderId, status);
        key.word = _withStatus(word, finalStatus);
    }

    /// @dev A key's word with another status.
    function _withStatus(uint256 word, uint8 status) internal pure returns (uint256) {
        return word >> 8 << 8 | status;
    }

    /// @dev When the key was used, in Unix seconds.
    function _paidAtIn(uint256 word) internal pure returns (uint256) {
        return uint40(word >> 8);
    }

    function _keyOf(Order calldata order) internal view returns (Key storage) {
        return _keys[order.metaData];
    }

    /// @dev The status in a key's word when this order was paid with it, else unknown.
    function _statusIn(uint256 word, bytes32 orderId) internal pure returns (uint8) {
        return word >> ID_SHIFT == uint256(orderId) >> ID_SHIFT ? uint8(word) : STATUS_UNKNOWN;
    }

    /// @dev The EIP-712 hash of the order without the domain: the witness for Permit2. `keccak256(abi.encode(ORDER_TYPEHASH,
    /// order))` costs 1,000 gas more, because it checks each word. Here none is checked. An order with a word too wide for
    /// its type has a hash that was never paid: every way to pay copies the order to memory, which refuses such a word.
    function _hashOrder(Order calldata order) internal pure returns (bytes32 hash) {
        bytes32 typeHash = ORDER_TYPEHASH;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typeHash)
            calldatacopy(add(free, 0x20), order, ORDER_SIZE)
            hash := keccak256(free, add(ORDER_SIZE, 0x20))
        }
    }

    /// @dev What the recipient gets. No fee of a paid order exceeds its total.
    function _netOf(uint256 total, uint256 fee) internal pure returns (uint256) {
        unchecked {
            return total - fee;
        }
    }

    /// @dev Everything that makes an order payable now but its payer, its signature and its key.
    function _checkTerms(Order memory order) private view {
        if (block.timestamp > order.payBy) revert PaymentDeadlinePassed(order.payBy);
        uint64 reclaimAt = order.reclaimAt;
        // Neither sum can overflow: `payBy` and the block's time fit 64 bits.
        unchecked {
            if (reclaimAt < order.payBy + LEAST_TIME_TO_SETTLE || reclaimAt > block.timestamp + MOST_TIME_TO_SETTLE) {
                revert WrongReclaimTime(order.payBy, reclaimAt);
            }
        }
        uint8 orderType = order.orderType;
        if (orderType > TYPE_CCTP) revert UnsupportedOrderType(orderType);
        // Escrow and direct orders pay on this chain, CCTP orders on another, vault payouts on any.
        uint64 targetChain = order.targetChain;
        if (targetChain == block.chainid ? orderType == TYPE_CCTP : orderType < TYPE_VAULT_PAYOUT || targetChain == 0) {
            revert WrongTargetChain(targetChain);
        }
        // What may go back to the payer must have a way to go.
        (address payer, address to) = (order.payer, order.to);
        if (payer == address(0) || order.token == address(0) || to == address(0)) revert ZeroAddress();
        if (payer == address(this) || to == address(this)) revert WrongRecipient(address(this));
        // Types 2 and 3 leave through a contract that the order names, the others go to the recipient alone.
        address via = order.via;
        if (orderType < TYPE_VAULT_PAYOUT ? via != address(0) : via == address(0) || via == address(this)) {
            revert WrongVia(orderType, via);
        }
        (uint256 total, uint256 payment, uint256 fee) = (order.total, order.payment, order.fee);
        if (total == 0 || total > MAX_TOTAL || fee > total || (payment != total && payment != _netOf(total, fee))) {
            revert WrongAmounts(total, payment, fee);
        }
    }

    function _emitPaid(Order memory o, bytes32 orderId) private {
        emit Paid(orderId, o.channelId, o.payer, o.to, o.token, o.total, o.payment, o.fee, o.orderType, o.metaData);
    }
}
