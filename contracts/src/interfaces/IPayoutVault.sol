// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAccess} from "./IAccess.sol";
import {IDomain} from "./IDomain.sol";

/// @title Florin payout vault
/// @notice The operator's float on one chain. It pays the recipients of orders that were paid and settled on another
/// chain, or on this one in another token: once per order id for ever, and never more than the caps allow. A payout needs
/// two keys, the settler that sends it and the signer that signed its terms, so neither alone can take or redirect money.
/// The vault sees no other chain: that the order was settled is what the signer vouches for.
///
/// The caps count per clock hour and clock day (UTC), so two adjoining windows can together pass twice a cap.
interface IPayoutVault is IAccess, IDomain {
    /// @notice What a signer vouches for: this source order is final and this is what its recipient is owed.
    /// @param orderId Id of the order on the source chain.
    /// @param channelId As in the order.
    /// @param metaData As in the order.
    /// @param sourceChain Chain on which the order was paid; this one when it was paid in another token.
    /// @param token The token paid out here.
    /// @param to The recipient.
    /// @param amount In `token`'s own units.
    /// @param deadline Last second (inclusive) at which the vault pays on this signature.
    struct Payout {
        bytes32 orderId;
        bytes32 channelId;
        bytes32 metaData;
        uint64 sourceChain;
        address token;
        address to;
        uint256 amount;
        uint64 deadline;
    }

    /// @notice Most that may leave in one token. A zero in any of them forbids the token.
    struct Caps {
        uint112 perOrder;
        uint112 hourly;
        uint112 daily;
    }

    /// @notice The order id was paid out before. Zero counts as paid out.
    error AlreadyPaidOut(bytes32 orderId);
    /// @notice The signature is malformed, malleable, or not from a current signer.
    error InvalidSignature();
    /// @notice A zero recipient or amount, the vault itself as recipient, or a source chain of zero.
    error InvalidPayout();
    /// @notice `deadline` has passed: a new signature is needed.
    error PayoutDeadlinePassed(uint64 deadline);
    /// @notice The token has no caps.
    error TokenNotAllowed(address token);
    /// @notice The payout is above the token's cap for one order. No later time lets it pass.
    error PerOrderCapExceeded(uint256 amount, uint256 cap);
    /// @notice The payout is above what remains of the token's cap in the current hour.
    error HourlyCapExceeded(uint256 amount, uint256 remaining);
    /// @notice The payout is above what remains of the token's cap in the current day.
    error DailyCapExceeded(uint256 amount, uint256 remaining);
    /// @notice There are not as many signatures as payouts.
    error LengthMismatch(uint256 payouts, uint256 signatures);

    event PaidOut(
        bytes32 indexed orderId,
        bytes32 indexed channelId,
        address indexed to,
        address token,
        uint256 amount,
        uint64 sourceChain,
        bytes32 metaData
    );
    /// @notice `payoutBatch` left this payout undone. Reasons: 1 already paid out; 2 invalid signature; 3 invalid payout;
    /// 4 token not allowed; 5 per-order cap; 6 hourly cap; 7 daily cap; 8 the token refused the transfer (or the
    /// float is too small); 9 the deadline has passed.
    event PayoutSkipped(bytes32 indexed orderId, uint8 reason);
    event CapsSet(address indexed token, uint112 perOrder, uint112 hourly, uint112 daily);
    event Withdrawn(address indexed token, address indexed to, uint256 amount);

    /// @notice Pays one recipient. Settler only, pausable.
    /// @param p The terms.
    /// @param signature 65 bytes r, s, v of a current signer over `payoutDigest(p)`; low s, v 27 or 28.
    function payout(Payout calldata p, bytes calldata signature) external;

    /// @notice Pays many; one that cannot be paid is skipped with `PayoutSkipped`. Settler only, pausable.
    /// @param payouts The terms.
    /// @param signatures One for each payout, in the same order.
    function payoutBatch(Payout[] calldata payouts, bytes[] calldata signatures) external;

    /// @notice Takes float out, outside the caps and during a pause. Controller only: the float is the operator's.
    function withdraw(address token, address to, uint256 amount) external;

    /// @notice Sets a token's caps, which hold at once for the running hour and day. Controller only.
    function setCaps(address token, uint112 perOrder, uint112 hourly, uint112 daily) external;

    /// @notice Whether the order id was paid out here. True for zero.
    function isPaidOut(bytes32 orderId) external view returns (bool);

    /// @notice What could leave now in this token: the least of balance, rest of the hour and rest of the day. The
    /// per-order cap bounds each payout besides.
    function available(address token) external view returns (uint256);

    function capsOf(address token) external view returns (Caps memory);

    /// @notice What has left in the running clock hour and day.
    function outflowOf(address token) external view returns (uint256 inHour, uint256 inDay);

    /// @notice The EIP-712 digest that a signer signs.
    function payoutDigest(Payout calldata p) external view returns (bytes32);
}
