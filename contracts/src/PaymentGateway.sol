// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Access} from "./base/Access.sol";
import {Domain} from "./base/Domain.sol";
import {IPaymentGateway} from "./interfaces/IPaymentGateway.sol";
import {Signature} from "./libraries/Signature.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title Florin payment gateway
/// @dev Every function that moves tokens writes its state first and holds the reentrancy lock. The lock is needed
/// besides, because the check of a received amount compares balances around a call to the token.
contract PaymentGateway is IPaymentGateway, Access, Domain {
    uint8 private constant TYPE_ESCROW = 0;
    uint8 private constant TYPE_DIRECT = 1;
    uint8 private constant TYPE_VAULT_PAYOUT = 2;

    uint8 private constant STATUS_UNKNOWN = 0;
    uint8 private constant STATUS_PAID = 1;
    uint8 private constant STATUS_SETTLED = 2;
    uint8 private constant STATUS_REFUNDED = 3;
    uint8 private constant STATUS_RECLAIMED = 4;
    uint8 private constant STATUS_BURNT = 255;

    uint8 private constant SKIP_UNKNOWN = 1;
    uint8 private constant SKIP_FINAL = 2;
    uint8 private constant SKIP_TRANSFER = 3;

    /// @dev Twelve words of an order, as they lie in calldata.
    uint256 private constant ORDER_SIZE = 0x180;
    /// @dev Below the truncated id a slot holds 40 bits of time and 8 bits of status.
    uint256 private constant ID_SHIFT = 48;
    uint256 private constant ID_MASK = type(uint256).max << ID_SHIFT;
    /// @dev Totals below 2^128 make every sum over a batch fit, so a token with absurd balances cannot stop one.
    uint256 private constant MAX_TOTAL = type(uint128).max;
    uint256 private constant DUST = 1;

    bytes32 private constant ORDER_TYPEHASH = keccak256(
        "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain)"
    );

    /// @dev An order as its twelve words lie in calldata. Reading these members skips the compiler's range checks, which
    /// is sound where the id was found paid: `pay` has made the checks on the same words. It saves 60 gas a read.
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

    /// @inheritdoc IPaymentGateway
    address public feeRecipient;
    mapping(bytes32 metaData => Slot) private _slots;
    /// @inheritdoc IPaymentGateway
    mapping(address token => uint256) public accruedFees;
    /// @inheritdoc IPaymentGateway
    address public immutable vault;

    constructor(
        address admin_,
        address orderSigner,
        address settler,
        address guardian_,
        address feeRecipient_,
        address vault_
    ) Access(admin_, orderSigner, settler, guardian_) Domain("Florin PaymentGateway") {
        if (vault_ == address(0)) revert ZeroAddress();
        vault = vault_;
        _setFeeRecipient(feeRecipient_);
        _slots[bytes32(0)].word = STATUS_BURNT;
    }

    /// @inheritdoc IPaymentGateway
    function pay(Order calldata order, bytes calldata signature) external whenNotPaused nonReentrant {
        bool isDirect = _checkTerms(order);
        bytes32 orderId = orderIdOf(order);
        if (!_isSigner(Signature.recover(orderId, signature))) revert InvalidSignature();
        Slot storage slot = _slots[order.metaData];
        if (slot.word != 0) revert MetaDataUsed(order.metaData);

        uint8 status = isDirect ? STATUS_SETTLED : STATUS_PAID;
        slot.word = (uint256(orderId) & ID_MASK) | (uint256(uint40(block.timestamp)) << 8) | status;
        _emitPaid(orderId, _wordsOf(order));
        if (isDirect) {
            _payDirect(orderId, order);
        } else {
            TokenTransfer.pullExact(order.token, msg.sender, address(this), order.total);
        }
    }

    /// @inheritdoc IPaymentGateway
    function settle(Order[] calldata orders) external nonReentrant {
        bytes32 separator = domainSeparator();
        bytes32[] memory ids = new bytes32[](orders.length);
        address feeToken;
        uint256 fees;
        for (uint256 next = 0; next < orders.length;) {
            address token;
            uint256 groupFees;
            (next, token, groupFees) = _settleGroup(orders, ids, next, separator);
            if (token != feeToken) {
                if (fees != 0) accruedFees[feeToken] += fees;
                (feeToken, fees) = (token, 0);
            }
            fees += groupFees;
        }
        if (fees != 0) accruedFees[feeToken] += fees;
    }

    /// @inheritdoc IPaymentGateway
    function refund(Order calldata order) external onlySettler nonReentrant {
        bytes32 orderId = _close(order, STATUS_REFUNDED);
        emit Refunded(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function reclaim(Order calldata order) external nonReentrant {
        if (msg.sender != order.payer) revert NotPayer(msg.sender, order.payer);
        if (block.timestamp < order.reclaimAt) revert ReclaimTooEarly(order.reclaimAt);
        bytes32 orderId = _close(order, STATUS_RECLAIMED);
        emit Reclaimed(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function withdrawFees(address token) external nonReentrant {
        uint256 accrued = accruedFees[token];
        if (accrued <= DUST) revert NothingToWithdraw(token);
        accruedFees[token] = DUST;
        address to = feeRecipient;
        emit FeesWithdrawn(token, to, accrued - DUST);
        TokenTransfer.send(token, to, accrued - DUST);
    }

    /// @inheritdoc IPaymentGateway
    function setOrderSigner(address signer, bool allowed) external onlyGranter(allowed) {
        _setSigner(signer, allowed);
    }

    /// @inheritdoc IPaymentGateway
    function setFeeRecipient(address feeRecipient_) external onlyAdmin {
        _setFeeRecipient(feeRecipient_);
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
    function isOrderSigner(address account) external view returns (bool) {
        return _isSigner(account);
    }

    /// @inheritdoc IPaymentGateway
    /// @dev Hashes the words as they came. Words with dirty upper bits give an id that nothing was ever paid under,
    /// because `pay` reads every field through the compiler's range checks.
    function orderIdOf(Order calldata order) public view returns (bytes32) {
        return _idOf(_wordsOf(order), domainSeparator());
    }

    function _idOf(Words calldata order, bytes32 separator) private pure returns (bytes32 id) {
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

    /// @dev Everything that makes an order payable now but its signature and its key. Reads every narrow field.
    function _checkTerms(Order calldata order) private view returns (bool isDirect) {
        if (msg.sender != order.payer) revert NotPayer(msg.sender, order.payer);
        if (block.timestamp > order.payBy) revert PaymentDeadlinePassed(order.payBy);
        uint8 orderType = order.orderType;
        if (orderType > TYPE_VAULT_PAYOUT) revert UnsupportedOrderType(orderType);
        uint64 targetChain = order.targetChain;
        if (targetChain == 0 || (targetChain != block.chainid && orderType != TYPE_VAULT_PAYOUT)) {
            revert WrongTargetChain(targetChain);
        }
        if (order.token == address(0) || order.to == address(0)) revert ZeroAddress();
        if (order.to == address(this)) revert WrongRecipient(order.to);
        // Not a rule: this read refuses dirty upper bits, which would make the order impossible to reclaim.
        order.reclaimAt;
        (uint256 total, uint256 payment, uint256 fee) = (order.total, order.payment, order.fee);
        unchecked {
            // In this order neither difference can wrap.
            if (
                total == 0 || total > MAX_TOTAL || fee > total || payment > total
                    || (total != payment && total - payment != fee)
            ) revert WrongAmounts(total, payment, fee);
        }
        return orderType == TYPE_DIRECT;
    }

    function _payDirect(bytes32 orderId, Order calldata order) private {
        uint256 fee = order.fee;
        uint256 net;
        unchecked {
            net = order.total - fee;
        }
        _emitSettled(orderId, _wordsOf(order), order.token, order.to);
        if (net != 0) TokenTransfer.pullExact(order.token, msg.sender, order.to, net);
        if (fee != 0) TokenTransfer.pullExact(order.token, msg.sender, feeRecipient, fee);
    }

    /// @dev Settles the orders from `start` on that share the first open order's token and recipient, with one
    /// transfer, and answers where it stopped. Skipped orders leave zero in `ids` and do not end a group.
    function _settleGroup(Order[] calldata orders, bytes32[] memory ids, uint256 start, bytes32 separator)
        private
        returns (uint256 next, address token, uint256 fees)
    {
        address recipient;
        uint256 net;
        for (next = start; next < orders.length; ++next) {
            Words calldata order = _wordsAt(orders, next);
            bytes32 orderId = _idOf(order, separator);
            Slot storage slot = _slots[order.metaData];
            uint256 word = slot.word;
            uint8 status = _statusIn(word, orderId);
            if (status != STATUS_PAID) {
                emit SettleSkipped(orderId, status == STATUS_UNKNOWN ? SKIP_UNKNOWN : SKIP_FINAL);
                continue;
            }
            address to = order.orderType == TYPE_VAULT_PAYOUT ? vault : _toAddress(order.to);
            if (recipient == address(0)) {
                (token, recipient) = (_toAddress(order.token), to);
            } else if (recipient != to || token != _toAddress(order.token)) {
                break;
            }
            ids[next] = orderId;
            unchecked {
                slot.word = word - STATUS_PAID + STATUS_SETTLED;
                // Each total is below 2^128 and no fee exceeds its total.
                net += order.total - order.fee;
                fees += order.fee;
            }
        }
        if (recipient == address(0)) return (next, token, 0);
        if (net == 0 || TokenTransfer.trySend(token, recipient, net)) {
            for (uint256 i = start; i < next; ++i) {
                if (ids[i] != 0) _emitSettled(ids[i], _wordsAt(orders, i), token, recipient);
            }
        } else {
            _reopen(orders, ids, start, next);
            fees = 0;
        }
    }

    function _emitSettled(bytes32 orderId, Words calldata order, address token, address recipient) private {
        uint256 fee = order.fee;
        unchecked {
            emit Settled(orderId, order.channelId, recipient, token, order.total - fee, fee, order.metaData);
        }
    }

    /// @dev `orders[i]` without the check of `i`, for loops that end at the length.
    function _wordsAt(Order[] calldata orders, uint256 i) private pure returns (Words calldata words) {
        assembly ("memory-safe") {
            words := add(orders.offset, mul(i, ORDER_SIZE))
        }
    }

    function _wordsOf(Order calldata order) private pure returns (Words calldata words) {
        assembly ("memory-safe") {
            words := order
        }
    }

    function _toAddress(uint256 word) private pure returns (address) {
        return address(uint160(word));
    }

    /// @dev Undoes a group whose transfer failed, so that each of its orders is exactly as before the call.
    function _reopen(Order[] calldata orders, bytes32[] memory ids, uint256 start, uint256 end) private {
        for (uint256 i = start; i < end; ++i) {
            if (ids[i] == 0) continue;
            _slots[_wordsAt(orders, i).metaData].word -= STATUS_SETTLED - STATUS_PAID;
            emit SettleSkipped(ids[i], SKIP_TRANSFER);
        }
    }

    /// @dev Moves this very order from paid to a final status.
    function _close(Order calldata order, uint8 finalStatus) private returns (bytes32 orderId) {
        orderId = orderIdOf(order);
        Slot storage slot = _slots[order.metaData];
        uint8 status = _statusIn(slot.word, orderId);
        if (status != STATUS_PAID) revert OrderNotOpen(orderId, status);
        slot.word = slot.word - STATUS_PAID + finalStatus;
    }

    function _setFeeRecipient(address feeRecipient_) private {
        if (feeRecipient_ == address(0)) revert ZeroAddress();
        if (feeRecipient_ == address(this)) revert WrongRecipient(feeRecipient_);
        feeRecipient = feeRecipient_;
        emit FeeRecipientSet(feeRecipient_);
    }

    function _announceSigner(address signer, bool allowed) internal override {
        emit OrderSignerSet(signer, allowed);
    }

    function _emitPaid(bytes32 orderId, Words calldata order) private {
        emit Paid(
            orderId,
            order.channelId,
            msg.sender,
            _toAddress(order.to),
            _toAddress(order.token),
            order.total,
            order.payment,
            order.fee,
            uint8(order.orderType),
            order.metaData
        );
    }

    /// @dev The status in a slot when the slot is this order's, else unknown.
    function _statusIn(uint256 word, bytes32 orderId) private pure returns (uint8) {
        return (word ^ uint256(orderId)) >> ID_SHIFT == 0 ? uint8(word) : STATUS_UNKNOWN;
    }
}
