// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalSmartWallet} from "./LocalSmartWallet.sol";

/// @notice Deploys smart accounts to addresses that are known before (ERC-6492).
contract LocalWalletFactory {
    /// @notice Counts what outlives its transaction.
    uint256 public deployed;

    function deploy(address owner, bytes32 salt) external returns (address) {
        deployed += 1;
        return address(new LocalSmartWallet{salt: salt}(owner));
    }

    function addressOf(address owner, bytes32 salt) external view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(LocalSmartWallet).creationCode, abi.encode(owner)));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), salt, code)))));
    }
}
