// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPermit2} from "../interfaces/IPermit2.sol";
import {ISignedTransfer} from "../interfaces/ISignedTransfer.sol";
import {Signature} from "./Signature.sol";
import {TokenTransfer} from "./TokenTransfer.sol";

/// @title Moving a payer's tokens on the strength of a signature
/// @dev None of these says that the tokens arrived: the caller compares balances.
library SignedTransfer {
    /// @dev Uniswap's deployment, at this address on every chain.
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    /// @dev The rest of Permit2's typed data after its own members; referenced types follow in alphabetical order.
    string private constant WITNESS_TYPE =
        "Order witness)Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain)TokenPermissions(address token,uint256 amount)";
    bytes4 private constant RECEIVE_BY_PARTS = bytes4(
        keccak256("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)")
    );
    bytes4 private constant RECEIVE_BY_BYTES =
        bytes4(keccak256("receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)"));

    /// @notice Permit2 is not deployed on this chain, or refused.
    error Permit2Failed();

    /// @notice An EIP-2612 permit for this contract. A failure is passed over: the allowance may stand all the same.
    function permit(address token, address owner, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        internal
    {
        TokenTransfer.call(
            token, gasleft(), abi.encodeCall(ISignedTransfer.permit, (owner, address(this), value, deadline, v, r, s))
        );
    }

    /// @notice An EIP-3009 authorization for this contract, valid until `validBefore` (exclusive).
    /// @param authorization 65 bytes r, s, v go to the token in three parts, all else as bytes. FiatToken puts the
    /// parts together again, so for its EIP-1271 wallets with signatures of 65 bytes the two forms are one.
    function authorized(
        address token,
        address from,
        uint256 value,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata authorization
    ) internal {
        bytes memory data = authorization.length == Signature.LENGTH
            ? _byParts(from, value, validBefore, nonce, authorization)
            : abi.encodeWithSelector(RECEIVE_BY_BYTES, from, address(this), value, 0, validBefore, nonce, authorization);
        if (!TokenTransfer.call(token, gasleft(), data)) revert TokenTransfer.TransferFailed(token);
    }

    /// @notice A signature for Permit2 with `witness`, the EIP-712 struct hash of the order, for this contract.
    function permitted(
        address token,
        address owner,
        uint256 amount,
        uint256 deadline,
        bytes32 witness,
        uint256 nonce,
        bytes calldata signature
    ) internal {
        bytes memory data = abi.encodeCall(
            IPermit2.permitWitnessTransferFrom,
            (
                IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(token, amount), nonce, deadline),
                IPermit2.SignatureTransferDetails(address(this), amount),
                owner,
                witness,
                WITNESS_TYPE,
                signature
            )
        );
        // Permit2 answers nothing; where it does not stand, neither does its code.
        if (!TokenTransfer.call(PERMIT2, gasleft(), data)) revert Permit2Failed();
    }

    /// @dev `abi.encodeWithSelector(RECEIVE_BY_PARTS, ...)` for 900 gas less.
    function _byParts(address from, uint256 value, uint256 validBefore, bytes32 nonce, bytes calldata parts)
        private
        view
        returns (bytes memory data)
    {
        bytes4 selector = RECEIVE_BY_PARTS;
        assembly ("memory-safe") {
            data := mload(0x40)
            mstore(data, 0x124)
            mstore(add(data, 0x20), selector)
            mstore(add(data, 0x24), shr(96, shl(96, from)))
            mstore(add(data, 0x44), address())
            mstore(add(data, 0x64), value)
            mstore(add(data, 0x84), 0)
            mstore(add(data, 0xa4), validBefore)
            mstore(add(data, 0xc4), nonce)
            mstore(add(data, 0xe4), byte(0, calldataload(add(parts.offset, 0x40))))
            calldatacopy(add(data, 0x104), parts.offset, 0x40)
            mstore(0x40, add(data, 0x160))
        }
    }
}
