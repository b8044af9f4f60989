// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Florin gateway factory
/// @notice Makes each operator's gateway and vault. It has one address on every chain, and so has what it makes: the address
/// follows from the operator's id alone. It has no owner, keeps no money and changes nothing that it has made.
///
/// The operator's id is the address that first controls both contracts. Anyone may have them made: they are paused and know
/// no key until that address has set them up.
interface IGatewayFactory {
    /// @notice The operator's id is zero.
    error ZeroOperatorId();
    /// @notice The operator's gateway and vault are on this chain already.
    error AlreadyDeployed(address operatorId);
    /// @notice A contract could not be made: too little gas, or a chain that takes no code of this size. `operatorId` is zero
    /// while the factory itself is deployed.
    error DeploymentFailed(address operatorId);

    /// @notice The operator's contracts are made. What this event names is Florin's own code.
    event Deployed(address indexed operatorId, address gateway, address vault);

    /// @notice Makes the gateway and the vault of an operator. Anyone may call; each operator's come once.
    /// @param operatorId Who controls both at first. On every chain the same id gives the same addresses.
    function deploy(address operatorId) external returns (address gateway, address vault);

    /// @notice Where an operator's contracts are, or will be, on this chain and every other.
    function addressesOf(address operatorId) external view returns (address gateway, address vault);

    /// @notice The account that holds the gateway's creation code.
    function gatewayCode() external view returns (address);

    /// @notice The account that holds the vault's creation code.
    function vaultCode() external view returns (address);
}
