// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {DepositReceiver} from "../DepositReceiver.sol";
import {IDepositReceiver} from "../interfaces/IDepositReceiver.sol";
import {IPaymentGateway} from "../interfaces/IPaymentGateway.sol";
import {Create2} from "../libraries/Create2.sol";
import {TokenTransfer} from "../libraries/TokenTransfer.sol";
import {OrderBook} from "./OrderBook.sol";

/// @title Deposit addresses
/// @dev One for each order id, by CREATE2 with the id as salt. The id has the payer in it, so the address commits to
/// whom everything goes that does not pay the order.
abstract contract Deposits is OrderBook {
    /// @dev ERC-1167: the creation code of a minimal proxy around the implementation's address.
    bytes10 private constant PROXY_CREATION = hex"3d602d80600a3d3981f3";
    bytes10 private constant PROXY_HEAD = hex"363d3d373d3d3d363d73";
    bytes15 private constant PROXY_TAIL = hex"5af43d82803e903d91602b57fd5bf3";

    address private immutable IMPLEMENTATION;

    constructor() {
        IMPLEMENTATION = address(new DepositReceiver());
    }

    /// @inheritdoc IPaymentGateway
    function rescue(Order calldata order, address token) external {
        rescueFromChain(order, token, block.chainid);
    }

    /// @inheritdoc IPaymentGateway
    function rescueFromChain(Order calldata order, address token, uint256 chainId) public nonReentrant {
        bytes32 orderId = _digest(_separatorOn(chainId), _hashOrder(order));
        address payer = order.payer;
        if (payer == address(0)) revert ZeroAddress();
        // On this chain the order's own token is kept for the order until `payBy`, while its key is unused. Otherwise anyone
        // could stop a payment on its way. No order can be paid more than 120 days before its `payBy`.
        bool isKept = chainId == block.chainid && block.timestamp <= order.payBy
            && order.payBy <= block.timestamp + MOST_TIME_TO_SETTLE && _keyOf(order).word == 0;
        if (isKept && token == order.token) revert StillCollectable(orderId);

        address receiver = _deployReceiver(orderId);
        uint256 amount = token == address(0) ? receiver.balance : TokenTransfer.balanceOf(token, receiver);
        if (amount == 0) revert NothingToRescue(receiver, token);
        emit Rescued(orderId, payer, token, amount);
        IDepositReceiver(receiver).forward(token, payer, amount);
    }

    /// @inheritdoc IPaymentGateway
    function receiverOf(bytes32 orderId) public view returns (address) {
        return Create2.addressOf(orderId, _proxyCode());
    }

    /// @dev The receiver, with its code in place.
    function _deployReceiver(bytes32 orderId) internal returns (address receiver) {
        receiver = receiverOf(orderId);
        if (receiver.code.length != 0) return receiver;
        // Only this contract can put code there, so a failure is one of gas.
        if (Create2.deploy(orderId, _proxyCode()) != receiver) revert TokenTransfer.InsufficientGas();
    }

    function _proxyCode() private view returns (bytes memory) {
        return abi.encodePacked(PROXY_CREATION, PROXY_HEAD, IMPLEMENTATION, PROXY_TAIL);
    }
}
