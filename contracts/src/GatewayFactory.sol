// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {PaymentGateway} from "./PaymentGateway.sol";
import {PayoutVault} from "./PayoutVault.sol";
import {IGatewayFactory} from "./interfaces/IGatewayFactory.sol";
import {Create2} from "./libraries/Create2.sol";

/// @title Florin gateway factory
/// @dev Gateway and vault together are larger than a contract may be. So their creation code is kept in two accounts of its
/// own, which only hold it.
contract GatewayFactory is IGatewayFactory {
    /// @dev Everything that a factory makes is told apart by its code and the operator's id in it.
    bytes32 private constant SALT = bytes32(0);
    /// @inheritdoc IGatewayFactory
    address public immutable gatewayCode;
    /// @inheritdoc IGatewayFactory
    address public immutable vaultCode;

    constructor() {
        gatewayCode = _keep(type(PaymentGateway).creationCode);
        vaultCode = _keep(type(PayoutVault).creationCode);
    }

    /// @inheritdoc IGatewayFactory
    function deploy(address operatorId) external returns (address gateway, address vault) {
        if (operatorId == address(0)) revert ZeroOperatorId();
        (gateway, vault) = (_make(gatewayCode, operatorId), _make(vaultCode, operatorId));
        emit Deployed(operatorId, gateway, vault);
    }

    /// @inheritdoc IGatewayFactory
    function addressesOf(address operatorId) external view returns (address gateway, address vault) {
        return (
            Create2.addressOf(SALT, _creationCode(gatewayCode, operatorId)),
            Create2.addressOf(SALT, _creationCode(vaultCode, operatorId))
        );
    }

    function _make(address store, address operatorId) private returns (address made) {
        bytes memory code = _creationCode(store, operatorId);
        made = Create2.addressOf(SALT, code);
        if (made.code.length != 0) revert AlreadyDeployed(operatorId);
        if (Create2.deploy(SALT, code) != made) revert DeploymentFailed(operatorId);
    }

    function _creationCode(address store, address operatorId) private view returns (bytes memory) {
        return abi.encodePacked(store.code, abi.encode(operatorId));
    }

    /// @dev An account whose code is `code`, by PUSH2 length, DUP1, PUSH1 10, RETURNDATASIZE, CODECOPY, RETURNDATASIZE, RETURN.
    /// Called, it runs a constructor without its argument, which reverts.
    function _keep(bytes memory code) private returns (address store) {
        store = Create2.deploy(SALT, abi.encodePacked(hex"61", uint16(code.length), hex"80600a3d393df3", code));
        if (store == address(0)) revert DeploymentFailed(address(0));
    }
}
