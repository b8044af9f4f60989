// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ICctpRoute} from "../interfaces/ICctpRoute.sol";
import {IPaymentGateway} from "../interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../libraries/TokenTransfer.sol";
import {OrderBook} from "./OrderBook.sol";

/// @title From paid to settled, many orders at a time
abstract contract Settlement is OrderBook {
    uint8 private constant SKIP_UNKNOWN = 1;
    uint8 private constant SKIP_FINAL = 2;
    uint8 private constant SKIP_TRANSFER = 3;
    uint8 private constant SKIP_NOT_SETTLER = 4;
    uint8 private constant SKIP_ROUTE = 5;

    /// @dev Most gas that one call of the CCTP route may use. A burn through Circle's contracts needs 200,000.
    uint256 private constant ROUTE_GAS = 500_000;

    /// @inheritdoc IPaymentGateway
    mapping(address token => uint256) public accruedFees;
    /// @inheritdoc IPaymentGateway
    address public immutable vault;

    constructor(address vault_) {
        if (vault_ == address(0)) revert ZeroAddress();
        vault = vault_;
    }

    /// @inheritdoc IPaymentGateway
    function settle(Order[] calldata orders) external nonReentrant {
        bytes32 separator = _separatorOf(block.chainid);
        if (orders.length == 1) {
            _settleAlone(_wordsAt(orders, 0), separator);
            return;
        }
        uint256 ids = _reserveIds(orders.length);
        address feeToken;
        uint256 fees;
        for (uint256 next = 0; next < orders.length;) {
            address token;
            uint256 groupFees;
            (next, token, groupFees) = _settleGroup(orders, ids, next, separator);
            if (token != feeToken) {
                _accrue(feeToken, fees);
                (feeToken, fees) = (token, 0);
            }
            unchecked {
                // Each is below 2^128, and no block holds 2^128 orders.
                fees += groupFees;
            }
        }
        _accrue(feeToken, fees);
    }

    /// @dev A batch of one, for 800 gas less than as a group.
    function _settleAlone(Words calldata order, bytes32 separator) private {
        bytes32 orderId = _idOf(order, separator);
        Slot storage slot = _slots[order.metaData];
        uint256 word = slot.word;
        uint256 orderType = order.orderType;
        // As in `_settleGroup`.
        if (!_isPaid(word, orderId) || orderType > TYPE_DIRECT && !isSettler[msg.sender]) {
            emit SettleSkipped(orderId, _skipReason(_statusIn(word, orderId)));
            return;
        }
        address token = _toAddress(order.token);
        if (orderType == TYPE_CCTP) {
            _accrue(token, _settleByRoute(orderId, order));
            return;
        }
        uint256 to = orderType == TYPE_VAULT_PAYOUT ? uint160(vault) : order.to;
        uint256 fee = order.fee;
        uint256 net;
        unchecked {
            slot.word = word - STATUS_PAID + STATUS_SETTLED;
            net = order.total - fee;
        }
        if (net != 0 && !TokenTransfer.trySend(token, _toAddress(to), net)) {
            slot.word = word;
            emit SettleSkipped(orderId, SKIP_TRANSFER);
            return;
        }
        _accrue(token, fee);
        _emitSettled(orderId, order, to);
    }

    /// @dev Settles the orders from `start` on that share the first open order's token and recipient, with one
    /// transfer, and answers where it stopped. Skipped orders leave zero in `ids` and do not end a group. A CCTP order
    /// is a group of its own, because each burn names its recipient.
    function _settleGroup(Order[] calldata orders, uint256 ids, uint256 start, bytes32 separator)
        private
        returns (uint256 next, address token, uint256 fees)
    {
        // Whole words, as they lie in the orders.
        uint256 recipient;
        uint256 tokenWord;
        uint256 net;
        for (next = start; next < orders.length; ++next) {
            Words calldata order = _wordsAt(orders, next);
            bytes32 orderId = _idOf(order, separator);
            Slot storage slot = _slots[order.metaData];
            uint256 word = slot.word;
            uint256 orderType = order.orderType;
            // Types 2 and 3: a stranger could otherwise push a session's second payment, which the service would have
            // paid back, into the vault or over the bridge.
            if (!_isPaid(word, orderId) || orderType > TYPE_DIRECT && !isSettler[msg.sender]) {
                _setId(ids, next, 0);
                emit SettleSkipped(orderId, _skipReason(_statusIn(word, orderId)));
                continue;
            }
            if (orderType == TYPE_CCTP) {
                if (recipient != 0) break;
                return (next + 1, _toAddress(order.token), _settleByRoute(orderId, order));
            }
            uint256 to = orderType == TYPE_VAULT_PAYOUT ? uint160(vault) : order.to;
            if (recipient == 0) (tokenWord, recipient) = (order.token, to);
            else if (recipient != to || tokenWord != order.token) break;
            unchecked {
                _setId(ids, next, orderId);
                slot.word = word - STATUS_PAID + STATUS_SETTLED;
                uint256 fee = order.fee;
                // Each total is below 2^128 and no fee exceeds its total.
                net += order.total - fee;
                fees += fee;
            }
        }
        token = _toAddress(tokenWord);
        if (recipient == 0) return (next, token, 0);
        if (net == 0 || TokenTransfer.trySend(token, _toAddress(recipient), net)) {
            for (uint256 i = start; i < next; ++i) {
                bytes32 orderId = _idAt(ids, i);
                if (orderId != 0) _emitSettled(orderId, _wordsAt(orders, i), recipient);
            }
        } else {
            _reopen(orders, ids, start, next);
            fees = 0;
        }
    }

    /// @dev Accrued fees stay below 2^256: each order's is below 2^128.
    function _accrue(address token, uint256 fees) private {
        if (fees == 0) return;
        unchecked {
            accruedFees[token] += fees;
        }
    }

    function _skipReason(uint8 status) private pure returns (uint8) {
        if (status == STATUS_UNKNOWN) return SKIP_UNKNOWN;
        return status == STATUS_PAID ? SKIP_NOT_SETTLER : SKIP_FINAL;
    }

    /// @dev Undoes a group whose transfer failed, so that each of its orders is exactly as before the call.
    function _reopen(Order[] calldata orders, uint256 ids, uint256 start, uint256 end) private {
        for (uint256 i = start; i < end; ++i) {
            bytes32 orderId = _idAt(ids, i);
            if (orderId == 0) continue;
            _slots[_wordsAt(orders, i).metaData].word -= STATUS_SETTLED - STATUS_PAID;
            emit SettleSkipped(orderId, SKIP_TRANSFER);
        }
    }

    /// @dev Settles one CCTP order, or leaves it exactly as it was. Answers the fee to accrue.
    function _settleByRoute(bytes32 orderId, Words calldata order) private returns (uint256 fee) {
        Slot storage slot = _slots[order.metaData];
        slot.word = slot.word - STATUS_PAID + STATUS_SETTLED;
        if (order.total == order.fee || _sendByRoute(orderId, order)) {
            _emitSettled(orderId, order, uint160(cctpRoute));
            return order.fee;
        }
        slot.word = slot.word - STATUS_SETTLED + STATUS_PAID;
        emit SettleSkipped(orderId, SKIP_ROUTE);
        return 0;
    }

    /// @dev Has the route burn the net amount; answers false when token or route refuses. Reverts when the route took
    /// another amount than it was given, or when a refused approval cannot be taken back: neither is a state to go on
    /// from, and only the settler, who can leave the order out, comes here.
    function _sendByRoute(bytes32 orderId, Words calldata order) private returns (bool) {
        address token = _toAddress(order.token);
        uint256 net = order.total - order.fee;
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        if (!TokenTransfer.tryApprove(token, cctpRoute, net)) return false;
        bytes memory data =
            abi.encodeCall(ICctpRoute.send, (orderId, token, net, uint64(order.targetChain), _toAddress(order.to)));
        if (!TokenTransfer.tryCall(cctpRoute, ROUTE_GAS, data)) {
            if (!TokenTransfer.tryApprove(token, cctpRoute, 0)) revert TokenTransfer.TransferFailed(token);
            return false;
        }
        uint256 left = TokenTransfer.balanceOf(token, address(this));
        if (left != held - net) revert TokenTransfer.InexactTransfer(token, net, left > held ? 0 : held - left);
        return true;
    }

    /// @dev `orders[i]` without the check of `i`, for loops that end at the length.
    function _wordsAt(Order[] calldata orders, uint256 i) private pure returns (Words calldata words) {
        assembly ("memory-safe") {
            words := add(orders.offset, mul(i, ORDER_SIZE))
        }
    }

    /// @dev Memory for `count` ids, which nothing has cleared: each is set before it is read.
    function _reserveIds(uint256 count) private pure returns (uint256 ids) {
        assembly ("memory-safe") {
            ids := mload(0x40)
            mstore(0x40, add(ids, shl(5, count)))
        }
    }

    function _idAt(uint256 ids, uint256 i) private pure returns (bytes32 id) {
        assembly ("memory-safe") {
            id := mload(add(ids, shl(5, i)))
        }
    }

    function _setId(uint256 ids, uint256 i, bytes32 id) private pure {
        assembly ("memory-safe") {
            mstore(add(ids, shl(5, i)), id)
        }
    }
}
