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
    uint8 private constant SKIP_RECLAIMABLE = 6;

    /// @dev How long only settlers settle. The service needs the time to return a session's second payment.
    uint256 private constant SETTLERS_ONLY = 1 days;

    /// @dev Most gas that one call of the CCTP route may use. A burn through Circle's contracts needs 200,000.
    uint256 private constant ROUTE_GAS = 500_000;

    /// @dev Neighbours in a batch that share one transfer, or one CCTP order.
    struct Group {
        address token;
        address to;
        uint256 net;
        uint256 fees;
        bool isBurn;
    }

    /// @inheritdoc IPaymentGateway
    mapping(address token => uint256) public accruedFees;

    /// @inheritdoc IPaymentGateway
    function settle(Order[] calldata orders) external nonReentrant {
        // The ids of the orders that were closed; zero where an order was skipped.
        bytes32[] memory ids = new bytes32[](orders.length);
        bool bySettler = isSettler[msg.sender];
        bytes32 separator = domainSeparator();
        for (uint256 start = 0; start < orders.length;) {
            Group memory group;
            uint256 end = _closeGroup(orders, ids, start, group, bySettler, separator);
            _sendGroup(orders, ids, start, end, group);
            start = end;
        }
    }

    /// @dev Marks the orders from `next` on as settled that share the first open order's token and recipient, adds them up
    /// in `group`, and answers where it stopped. An order that cannot be settled is skipped and does not end the group. A
    /// CCTP order is alone in its group: each burn names its recipient.
    function _closeGroup(
        Order[] calldata orders,
        bytes32[] memory ids,
        uint256 next,
        Group memory group,
        bool bySettler,
        bytes32 separator
    ) private returns (uint256) {
        for (; next < orders.length; ++next) {
            Order calldata order = orders[next];
            bytes32 orderId = _digest(separator, _hashOrder(order));
            Key storage key = _keyOf(order);
            uint256 word = key.word;
            uint8 reason = _whyNot(order, orderId, word, bySettler);
            if (reason != 0) {
                emit SettleSkipped(orderId, reason);
                continue;
            }
            uint8 orderType = order.orderType;
            address to = orderType < TYPE_VAULT_PAYOUT ? order.to : order.via;
            if (group.to == address(0)) (group.token, group.to) = (order.token, to);
            else if (orderType == TYPE_CCTP || group.to != to || group.token != order.token) return next;
            ids[next] = orderId;
            key.word = _withStatus(word, STATUS_SETTLED);
            // Each total is below 2^128, and no block holds 2^128 orders.
            unchecked {
                uint256 fee = order.fee;
                group.net += order.total - fee;
                group.fees += fee;
            }
            if (orderType == TYPE_CCTP) {
                group.isBurn = true;
                return next + 1;
            }
        }
        return next;
    }

    /// @dev Why the order cannot be settled now; 0 when it can. The order's words are read only once it is known as paid:
    /// then each fits its type, so no item reverts the others.
    function _whyNot(Order calldata order, bytes32 orderId, uint256 word, bool bySettler) private view returns (uint8) {
        uint8 status = _statusIn(word, orderId);
        if (status != STATUS_PAID) return status == STATUS_UNKNOWN ? SKIP_UNKNOWN : SKIP_FINAL;
        if (block.timestamp >= order.reclaimAt) return SKIP_RECLAIMABLE;
        if (bySettler) return 0;
        // A stranger could otherwise push a session's second payment, which the service would have paid back, to the
        // merchant, into the vault or over the bridge.
        bool isOpenToAll = order.orderType == TYPE_ESCROW && block.timestamp >= _paidAtIn(word) + SETTLERS_ONLY;
        return isOpenToAll ? 0 : SKIP_NOT_SETTLER;
    }

    /// @dev Sends the group's money at once. If that fails, each of its orders is as before the call again.
    function _sendGroup(Order[] calldata orders, bytes32[] memory ids, uint256 start, uint256 end, Group memory group)
        private
    {
        bool isSent = group.net == 0
            || (group.isBurn
                    ? _burn(orders[end - 1], ids[end - 1], group)
                    : TokenTransfer.trySend(group.token, group.to, group.net));
        if (isSent) _accrue(group.token, group.fees);
        for (uint256 i = start; i < end; ++i) {
            bytes32 orderId = ids[i];
            if (orderId == bytes32(0)) continue;
            if (isSent) {
                _emitSettled(orders[i], orderId, group);
            } else {
                Key storage key = _keyOf(orders[i]);
                key.word = _withStatus(key.word, STATUS_PAID);
                emit SettleSkipped(orderId, group.isBurn ? SKIP_ROUTE : SKIP_TRANSFER);
            }
        }
    }

    /// @dev Has the route burn the net amount. Answers false when the token refuses the approval, or the route the burn.
    /// Reverts, because the gateway holds other orders' money as well:
    /// - when another amount than the net amount left with a burn;
    /// - when anything left although the route refused;
    /// - when the approval of a route that refused cannot be taken back.
    /// Only a settler comes here, and can leave the order out.
    function _burn(Order calldata order, bytes32 orderId, Group memory group) private returns (bool) {
        (address token, address route, uint256 net) = (group.token, group.to, group.net);
        uint256 held = TokenTransfer.balanceOf(token, address(this));
        if (!TokenTransfer.tryApprove(token, route, net)) return false;
        bytes memory data = abi.encodeCall(ICctpRoute.send, (orderId, token, net, order.targetChain, order.to));
        bool isBurnt = TokenTransfer.tryCall(route, ROUTE_GAS, data);
        if (!isBurnt && !TokenTransfer.tryApprove(token, route, 0)) revert TokenTransfer.TransferFailed(token);
        uint256 due = isBurnt ? net : 0;
        uint256 left = TokenTransfer.balanceOf(token, address(this));
        if (left + due != held) revert TokenTransfer.InexactTransfer(token, due, left > held ? 0 : held - left);
        return isBurnt;
    }

    function _accrue(address token, uint256 fees) internal {
        if (fees != 0) accruedFees[token] += fees;
    }

    function _emitSettled(Order calldata o, bytes32 orderId, Group memory group) private {
        emit Settled(orderId, o.channelId, group.to, group.token, _netOf(o.total, o.fee), o.fee, o.metaData);
    }
}
