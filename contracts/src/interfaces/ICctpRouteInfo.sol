// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title What a CCTP route tells and refuses
/// @notice A route holds no tokens between two calls and has no owner: its gateway, Circle's contract and the table of
/// domains are fixed when it is deployed. So where burnt money is minted follows from the order alone.
interface ICctpRouteInfo {
    /// @notice The caller is not the gateway that this route belongs to.
    error NotGateway(address caller);
    /// @notice Order id, token or recipient is zero, or, in the constructor, messenger or gateway.
    error ZeroValue();
    /// @notice The route has no domain for this chain, or it is the route's own chain.
    error UnknownChain(uint64 chain);
    /// @notice Circle's contract took another amount than it was asked to burn.
    error WrongBurn(uint256 expected, uint256 taken);
    /// @notice The table of domains names a chain twice, has a zero chain, or its columns differ in length.
    error InvalidDomains();
    /// @notice The token did not grant Circle's contract its allowance.
    error ApprovalFailed(address token);
    /// @notice A callback called back in.
    error Reentered();

    /// @notice `amount` of `token` is burnt here, and as much will be minted to `to` on `targetChain`. The message that
    /// mints carries `orderId` as its hook data.
    event Burnt(
        bytes32 indexed orderId,
        address indexed to,
        address indexed token,
        uint256 amount,
        uint64 targetChain,
        uint32 domain
    );

    /// @notice The only contract that may send.
    function gateway() external view returns (address);

    /// @notice Circle's TokenMessengerV2 on this chain.
    function tokenMessenger() external view returns (address);

    /// @notice Circle's domain for a chain id; reverts for a chain that the route does not know.
    function domainOf(uint64 chain) external view returns (uint32);
}
