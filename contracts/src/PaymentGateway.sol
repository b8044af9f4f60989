// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Access} from "./base/Access.sol";
import {Deposits} from "./base/Deposits.sol";
import {Domain} from "./base/Domain.sol";
import {OrderBook} from "./base/OrderBook.sol";
import {Settlement} from "./base/Settlement.sol";
import {IDepositReceiver} from "./interfaces/IDepositReceiver.sol";
import {IPaymentGateway} from "./interfaces/IPaymentGateway.sol";
import {SignedTransfer} from "./libraries/SignedTransfer.sol";
import {TokenTransfer} from "./libraries/TokenTransfer.sol";

/// @title Florin payment gateway
/// @dev Every function that moves tokens writes its state first and holds the reentrancy lock. The lock is needed
/// besides, because the check of a received amount compares balances around a call to the token.
contract PaymentGateway is Settlement, Deposits {
    uint256 private constant DUST = 1;

    /// @inheritdoc IPaymentGateway
    mapping(bytes32 orderId => uint256) public refundedOf;

    constructor(address operatorId) Access(operatorId) Domain("Florin PaymentGateway") {}

    /// @dev An allowance and a permit name no order, so the payer alone uses them.
    modifier onlyPayer(Order calldata order) {
        if (msg.sender != order.payer) revert NotPayer(msg.sender, order.payer);
        _;
    }

    /// @inheritdoc IPaymentGateway
    function pay(Order calldata order, bytes calldata signature) external onlyPayer(order) nonReentrant {
        Order memory terms = order;
        bytes32 orderId = _open(order, terms, signature);
        _takeAllowance(terms, orderId);
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit(Order calldata order, bytes calldata signature, uint8 v, bytes32 r, bytes32 s)
        external
        onlyPayer(order)
        nonReentrant
    {
        Order memory terms = order;
        bytes32 orderId = _open(order, terms, signature);
        SignedTransfer.permit(terms.token, msg.sender, terms.total, terms.payBy, v, r, s);
        _takeAllowance(terms, orderId);
    }

    /// @inheritdoc IPaymentGateway
    function payWithAuthorization(Order calldata order, bytes calldata signature, bytes calldata authorization)
        external
        nonReentrant
    {
        Order memory terms = order;
        bytes32 orderId = _open(order, terms, signature);
        uint256 held = TokenTransfer.balanceOf(terms.token, address(this));
        SignedTransfer.authorized(terms, orderId, authorization);
        _keepOrPassOn(terms, orderId, held);
    }

    /// @inheritdoc IPaymentGateway
    function payWithPermit2(Order calldata order, bytes calldata signature, uint256 nonce, bytes calldata permit)
        external
        nonReentrant
    {
        Order memory terms = order;
        bytes32 orderId = _open(order, terms, signature);
        uint256 held = TokenTransfer.balanceOf(terms.token, address(this));
        SignedTransfer.permitted(terms, _hashOrder(order), nonce, permit);
        _keepOrPassOn(terms, orderId, held);
    }

    /// @inheritdoc IPaymentGateway
    function collect(Order calldata order, bytes calldata signature) external nonReentrant {
        Order memory terms = order;
        bytes32 orderId = _open(order, terms, signature);
        address receiver = _deployReceiver(orderId);
        emit Collected(orderId, receiver);
        uint256 held = TokenTransfer.balanceOf(terms.token, address(this));
        IDepositReceiver(receiver).forward(terms.token, address(this), terms.total);
        _keepOrPassOn(terms, orderId, held);
    }

    /// @inheritdoc IPaymentGateway
    function refund(Order calldata order) external onlySettler nonReentrant {
        bytes32 orderId = _close(order, STATUS_REFUNDED);
        emit Refunded(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function reclaim(Order calldata order) external nonReentrant {
        if (block.timestamp < order.reclaimAt) revert ReclaimTooEarly(order.reclaimAt);
        bytes32 orderId = _close(order, STATUS_RECLAIMED);
        emit Reclaimed(orderId, order.payer, order.token, order.total, order.metaData);
        TokenTransfer.send(order.token, order.payer, order.total);
    }

    /// @inheritdoc IPaymentGateway
    function refundSettled(Order calldata order, uint256 amount) external nonReentrant {
        bytes32 orderId = orderIdOf(order);
        uint8 status = _statusIn(_keyOf(order).word, orderId);
        if (status != STATUS_SETTLED) revert OrderNotSettled(orderId, status);
        uint256 refunded = refundedOf[orderId];
        uint256 remaining = order.total - refunded;
        if (amount == 0 || remaining == 0) revert WrongRefund(amount, remaining);
        if (amount > remaining) amount = remaining;
        refunded += amount;
        refundedOf[orderId] = refunded;
        emit SettlementRefunded(orderId, order.payer, msg.sender, order.token, amount, refunded, order.metaData);
        TokenTransfer.pullExact(order.token, order.payer, amount);
    }

    /// @inheritdoc IPaymentGateway
    function withdrawFees(address token) external nonReentrant {
        uint256 accrued = accruedFees[token];
        if (accrued <= DUST) revert NothingToWithdraw(token);
        accruedFees[token] = DUST;
        emit FeesWithdrawn(token, feeRecipient, accrued - DUST);
        TokenTransfer.send(token, feeRecipient, accrued - DUST);
    }

    /// @inheritdoc IPaymentGateway
    function setFeeRecipient(address feeRecipient_) external onlyController {
        if (feeRecipient_ == address(0)) revert ZeroAddress();
        if (feeRecipient_ == address(this)) revert WrongRecipient(feeRecipient_);
        feeRecipient = feeRecipient_;
        emit FeeRecipientSet(feeRecipient_);
    }

    /// @dev Moves an opened order's money out of the caller's allowance.
    function _takeAllowance(Order memory order, bytes32 orderId) private {
        address token = order.token;
        if (order.orderType != TYPE_DIRECT) {
            TokenTransfer.pullExact(token, address(this), order.total);
            return;
        }
        TokenTransfer.pullExact(token, order.to, _netOf(order.total, order.fee));
        if (TokenTransfer.tryPullExact(token, feeRecipient, order.fee)) return;
        TokenTransfer.pullExact(token, address(this), order.fee);
        _accrueFee(order, orderId);
    }

    /// @dev What an opened order's money does once it is here: it stays, or for direct orders it leaves again without a
    /// residue but a fee that its recipient cannot receive. `held` is the balance before.
    function _keepOrPassOn(Order memory order, bytes32 orderId, uint256 held) private {
        address token = order.token;
        TokenTransfer.requireReceived(token, address(this), held, order.total);
        if (order.orderType != TYPE_DIRECT) return;
        TokenTransfer.sendExact(token, order.to, _netOf(order.total, order.fee));
        bool isFeeSent = TokenTransfer.trySendExact(token, feeRecipient, order.fee);
        if (!isFeeSent) _accrueFee(order, orderId);
        TokenTransfer.requireReceived(token, address(this), held, isFeeSent ? 0 : order.fee);
    }

    /// @dev The token refuses the fee recipient of a direct order: the fee waits here, so that the payment goes on.
    function _accrueFee(Order memory order, bytes32 orderId) private {
        _accrue(order.token, order.fee);
        emit FeeAccrued(orderId, order.token, order.fee);
    }

    /// @dev Fees of direct orders go there in the payment itself.
    function _requireReady() internal view override {
        if (feeRecipient == address(0)) revert FeeRecipientMissing();
    }
}
