// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The part of Circle's TokenMessengerV2 that a route uses
/// @notice From github.com/circlefin/evm-cctp-contracts, src/v2/TokenMessengerV2.sol.
interface ITokenMessengerV2 {
    /// @notice Burns `amount` of the caller's `burnToken` and sends the message that mints it on the other domain.
    /// @param amount In the token's own units.
    /// @param destinationDomain Circle's number for the chain of the mint.
    /// @param mintRecipient Who receives the minted tokens, left-padded.
    /// @param burnToken The token to burn.
    /// @param destinationCaller Who alone may deliver the message; zero for anyone.
    /// @param maxFee Most that Circle may keep, in units of `burnToken`.
    /// @param minFinalityThreshold How final the burn has to be before it is attested; 2000 is final.
    /// @param hookData Opaque data that travels in the message; not empty.
    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external;
}
