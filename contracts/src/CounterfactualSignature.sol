// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A question in the form of a contract: does a smart account that is not deployed yet take a signature?
/// @notice Never deployed. The service sends this code, with its arguments behind it, as an `eth_call` without a
/// recipient; what would become the code of the contract is the answer, and nothing of what happened stays.
/// @dev ERC-6492, the verification of wrapped signatures, without its two tolerances: no account is asked after a
/// deployment that it did not need, and no key counts for an account with code.
contract CounterfactualSignature {
    /// @param account Whose signature it is said to be.
    /// @param digest What was signed.
    /// @param factory Deploys the account when it is called with `factoryCall`.
    /// @param factoryCall The call that deploys the account.
    /// @param signature What the account is asked about, by EIP-1271.
    constructor(address account, bytes32 digest, address factory, bytes memory factoryCall, bytes memory signature) {
        if (account.code.length == 0) {
            assembly ("memory-safe") {
                // How it ended is told by the code that is there afterwards.
                pop(call(gas(), factory, 0, add(factoryCall, 0x20), mload(factoryCall), 0, 0))
            }
        }
        // isValidSignature(bytes32,bytes)
        bytes memory question = abi.encodeWithSelector(0x1626ba7e, digest, signature);
        assembly ("memory-safe") {
            mstore(0, 0)
            // Precompiled contracts answer without code, and take no signatures.
            if extcodesize(account) {
                let isAnswered := staticcall(gas(), account, add(question, 0x20), mload(question), 0, 0x20)
                // One word and nothing else: whatever more an account says is not copied.
                if iszero(and(isAnswered, eq(returndatasize(), 0x20))) { mstore(0, 0) }
            }
            return(0, 0x20)
        }
    }
}
