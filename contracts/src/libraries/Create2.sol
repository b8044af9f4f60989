// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Contracts at addresses that follow from their code
/// @dev CREATE2 of this contract (EIP-1014).
library Create2 {
    /// @notice The address of what `deploy` makes from the same salt and code.
    function addressOf(bytes32 salt, bytes memory code) internal view returns (address) {
        bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, keccak256(code)));
        return address(uint160(uint256(hash)));
    }

    /// @notice Runs creation code with its arguments; answers zero when it fails.
    /// @dev In assembly, because Solidity creates no contract from code in memory.
    function deploy(bytes32 salt, bytes memory code) internal returns (address created) {
        assembly ("memory-safe") {
            created := create2(0, add(code, 0x20), mload(code), salt)
        }
    }
}
