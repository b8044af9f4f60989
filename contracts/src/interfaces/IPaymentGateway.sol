// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "./IAccess.sol";
import {IDomain} from "./IDomain.sol";

/// @title Florin payment gateway
/// @notice Takes a payer's tokens for an order that the service has signed, holds them, and gives them to exactly one
/// of two places: the recipient named in the order (`settle`), or the payer (`refund`, `reclaim`). Recipient, amounts
/// and fee are part of the order's hash, so no key can redirect a paid order.
///
/// One storage word per `metaData` is all that is kept: the order comes back in calldata and is checked against it.
/// All orders of one checkout session share one `metaData`, so at most one of them is ever paid on this chain.
///
/// Tokens must be plain: transfers move exactly the amount that was asked for, and balances do not rebase. A payment
/// in a token that takes a fee reverts; a token whose balances shrink later endangers only the orders in that token.
/// Tokens sent here without `pay` belong to no order and cannot be recovered.
interface IPaymentGateway is IAccess, IDomain {
    /// @notice What the service offers and the payer accepts. Amounts are in the token's own units.
    /// @param channelId Hash of the merchant's account, its version and its settlement token; opaque here.
    /// @param metaData Hash of the session's line items and a secret salt: the single-use key.
    /// @param payer Who pays, and who is paid back by `refund` and `reclaim`.
    /// @param token The ERC-20 that is paid.
    /// @param to The merchant. For type 2 it is the recipient of the payout.
    /// @param total What leaves the payer: `payment`, or `payment + fee` when the payer bears the fee. Below 2^128.
    /// @param payment The price.
    /// @param fee The service's share of `total`; the recipient gets `total - fee`.
    /// @param payBy Last second (inclusive) at which the order can be paid.
    /// @param reclaimAt First second (inclusive) at which the payer can take an unsettled payment back.
    /// @param orderType 0 escrow; 1 direct, which pays the recipient in the same transaction; 2 payout from a vault, in
    /// another token or on another chain, which settles into this chain's vault.
    /// @param targetChain Chain on which the recipient is paid: this one for types 0 and 1, any for type 2.
    struct Order {
        bytes32 channelId;
        bytes32 metaData;
        address payer;
        address token;
        address to;
        uint256 total;
        uint256 payment;
        uint256 fee;
        uint64 payBy;
        uint64 reclaimAt;
        uint8 orderType;
        uint64 targetChain;
    }

    /// @notice The caller is not the order's payer.
    error NotPayer(address caller, address payer);
    /// @notice `payBy` has passed.
    error PaymentDeadlinePassed(uint64 payBy);
    /// @notice `reclaimAt` has not come yet.
    error ReclaimTooEarly(uint64 reclaimAt);
    /// @notice The order type is not one that this version knows.
    error UnsupportedOrderType(uint8 orderType);
    /// @notice The target chain does not fit the order type.
    error WrongTargetChain(uint64 targetChain);
    /// @notice Total is zero or too large, fee exceeds it, or total is neither `payment` nor `payment + fee`.
    error WrongAmounts(uint256 total, uint256 payment, uint256 fee);
    /// @notice The recipient cannot be the gateway.
    error WrongRecipient(address to);
    /// @notice The signature is malformed, malleable, or not from a current order signer.
    error InvalidSignature();
    /// @notice This order, or another of the same session, was paid before. `metaData` zero counts as used.
    error MetaDataUsed(bytes32 metaData);
    /// @notice The order is not paid and open: its status is `status` (0: unknown, or another order holds the key).
    error OrderNotOpen(bytes32 orderId, uint8 status);
    /// @notice No more than the one unit that stays has accrued.
    error NothingToWithdraw(address token);

    /// @notice `from` has paid; the tokens are in the gateway, or for type 1 with the recipient already.
    event Paid(
        bytes32 indexed orderId,
        bytes32 indexed channelId,
        address indexed from,
        address to,
        address token,
        uint256 totalValue,
        uint256 paymentValue,
        uint256 feeValue,
        uint8 orderType,
        bytes32 metaData
    );
    /// @notice `to` has received `netValue`. For type 2 `to` is this chain's vault.
    event Settled(
        bytes32 indexed orderId,
        bytes32 indexed channelId,
        address indexed to,
        address token,
        uint256 netValue,
        uint256 feeValue,
        bytes32 metaData
    );
    /// @notice The settler has returned the whole payment to the payer.
    event Refunded(bytes32 indexed orderId, address indexed payer, address token, uint256 value, bytes32 metaData);
    /// @notice The payer has taken the whole payment back.
    event Reclaimed(bytes32 indexed orderId, address indexed payer, address token, uint256 value, bytes32 metaData);
    /// @notice `settle` left this order as it was. Reasons: 1 unknown (not paid, or another order holds its key);
    /// 2 settled, refunded or reclaimed before; 3 the token refused the transfer to the recipient.
    event SettleSkipped(bytes32 indexed orderId, uint8 reason);
    event FeesWithdrawn(address indexed token, address indexed to, uint256 value);
    event OrderSignerSet(address indexed signer, bool allowed);
    event FeeRecipientSet(address indexed feeRecipient);

    /// @notice Pays an order out of the caller's allowance. Pausable.
    /// @dev Refuses a token that delivers anything but the exact amount.
    /// @param order The order; the caller must be its payer.
    /// @param signature 65 bytes r, s, v of a current order signer over `orderIdOf(order)`; low s, v 27 or 28.
    function pay(Order calldata order, bytes calldata signature) external;

    /// @notice Sends paid orders' net amounts to their recipients. Anyone may call; a pause does not stop it.
    /// @dev Neighbours with the same token and recipient share one transfer, so sort by token and recipient. An order
    /// that cannot be settled is skipped with `SettleSkipped` and changes nothing; it never reverts the others. When
    /// a transfer fails for want of gas the whole call reverts, so that a caller cannot cause skips by starving it.
    function settle(Order[] calldata orders) external;

    /// @notice Returns an unsettled payment in full to its payer. Settler only; a pause does not stop it.
    function refund(Order calldata order) external;

    /// @notice Takes an unsettled payment back in full from `reclaimAt` on. Payer only; a pause does not stop it.
    function reclaim(Order calldata order) external;

    /// @notice Sends accrued fees, but for one unit, to the fee recipient. Anyone may call.
    /// @dev The unit that stays keeps two storage words warm: an empty balance costs the next payer 17,100 gas.
    function withdrawFees(address token) external;

    /// @notice Grants (admin only) or revokes (admin or guardian) the right to sign orders.
    function setOrderSigner(address signer, bool allowed) external;

    /// @notice Replaces the receiver of fees, accrued ones included. Admin only.
    function setFeeRecipient(address feeRecipient_) external;

    /// @notice The order's EIP-712 digest on this chain and contract: what the service signs, and the order's id.
    function orderIdOf(Order calldata order) external view returns (bytes32);

    /// @notice What the single-use key holds.
    /// @return status 0 unused, 1 paid, 2 settled, 3 refunded, 4 reclaimed, 255 burnt (`metaData` zero).
    /// @return paidAt Time of the paying block, Unix seconds.
    /// @return truncatedOrderId The upper 208 bits of the paid order's id.
    function statusOf(bytes32 metaData) external view returns (uint8 status, uint40 paidAt, uint208 truncatedOrderId);

    /// @notice Status of this very order: as `statusOf`, and 0 too when another order holds its key.
    function orderStatus(Order calldata order) external view returns (uint8);

    /// @notice Fees that settled orders have left here, including the unit that stays.
    function accruedFees(address token) external view returns (uint256);

    function isOrderSigner(address account) external view returns (bool);
    function feeRecipient() external view returns (address);

    /// @notice The vault of this chain, which receives the net amounts of type 2 orders.
    function vault() external view returns (address);
}
