// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../interfaces/IPaymentGateway.sol";
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
        "Order witness)Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)TokenPermissions(address token,uint256 amount)";

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

    /// @notice An EIP-3009 authorization for this contract over the order's total, with the order's id as nonce. A signature
    /// of 65 bytes goes to the token as v, r, s, which every token of EIP-3009 takes; any other as bytes.
    function authorized(IPaymentGateway.Order memory order, bytes32 orderId, bytes calldata signature) internal {
        ISignedTransfer token = ISignedTransfer(order.token);
        // The token's bound is exclusive, ours is not.
        uint256 validBefore = uint256(order.payBy) + 1;
        if (signature.length == Signature.LENGTH) {
            (bytes32 r, bytes32 s, uint8 v) = Signature.split(signature);
            try token.receiveWithAuthorization(
                order.payer, address(this), order.total, 0, validBefore, orderId, v, r, s
            ) {
                return;
            } catch {}
        } else {
            try token.receiveWithAuthorization(
                order.payer, address(this), order.total, 0, validBefore, orderId, signature
            ) {
                return;
            } catch {}
        }
        revert TokenTransfer.TransferFailed(order.token);
    }

    /// @notice A signature for Permit2 with `witness`, the EIP-712 struct hash of the order, for this contract.
    function permitted(IPaymentGateway.Order memory order, bytes32 witness, uint256 nonce, bytes calldata signature)
        internal
    {
        bytes memory data = abi.encodeCall(
            IPermit2.permitWitnessTransferFrom,
            (
                IPermit2.PermitTransferFrom(IPermit2.TokenPermissions(order.token, order.total), nonce, order.payBy),
                IPermit2.SignatureTransferDetails(address(this), order.total),
                order.payer,
                witness,
                WITNESS_TYPE,
                signature
            )
        );
        // Permit2 answers nothing; where it does not stand, neither does its code.
        if (!TokenTransfer.call(PERMIT2, gasleft(), data)) revert Permit2Failed();
    }
}
