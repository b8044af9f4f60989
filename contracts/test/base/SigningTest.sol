// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPaymentGateway} from "../../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./GatewayTest.sol";
import {RealTokens} from "./RealTokens.sol";

interface IDomainSeparator {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}

/// @notice What payers sign, written out from the standards and sharing no code with the gateway.
abstract contract SigningTest is GatewayTest, RealTokens {
    enum Way {
        Allowance,
        Permit,
        Authorization,
        Permit2,
        Deposit
    }

    uint8 internal constant WAYS = 5;

    /// @dev Circle's own contract; `usdc` is our stand-in for it.
    LocalUsdc internal realUsdc;

    string internal constant ORDER_TYPE =
        "Order(bytes32 channelId,bytes32 metaData,address payer,address token,address to,uint256 total,uint256 payment,uint256 fee,uint64 payBy,uint64 reclaimAt,uint8 orderType,uint64 targetChain,address via)";

    function setUp() public virtual override {
        super.setUp();
        realUsdc = deployRealUsdc(minter);
        deployPermit2();
    }

    /// @notice An order in a token that can be paid in every way: Circle's USDC or our stand-in, of any type.
    function anySignedOrder(uint256 seed) internal view returns (IPaymentGateway.Order memory order) {
        order = anyOrderOf(seed, uint8(pick(seed, 60) % ORDER_TYPES));
        order.token = pick(seed, 61) % 2 == 0 ? address(usdc) : address(realUsdc);
    }

    function anyWay(uint8 seed) internal pure returns (Way) {
        return Way(seed % WAYS);
    }

    /// @notice Puts the money where `way` finds it, besides what is there already.
    function fundFor(Way way, IPaymentGateway.Order memory order) internal {
        if (way == Way.Deposit) {
            give(order.token, gateway.receiverOf(digestOf(order)), order.total);
            return;
        }
        give(order.token, order.payer, order.total);
        if (way == Way.Allowance) allow(order.token, order.payer, order.total);
        if (way != Way.Permit2 || IERC20(order.token).allowance(order.payer, PERMIT2) >= order.total) return;
        vm.prank(order.payer);
        // USDT answers nothing, which a typed call would not take.
        (bool approved,) = order.token.call(abi.encodeCall(IERC20.approve, (PERMIT2, type(uint256).max)));
        vm.assertEq(approved, true, "approval");
    }

    /// @notice The call that pays `order` in that way with the service's `signature` and all that the payer has to
    /// sign.
    function callOf(Way way, IPaymentGateway.Order memory order, bytes memory signature)
        internal
        view
        returns (bytes memory)
    {
        if (way == Way.Allowance) return abi.encodeCall(IPaymentGateway.pay, (order, signature));
        if (way == Way.Permit) {
            bytes32 digest =
                permitDigest(order.token, order.payer, order.total, noncesOf(order.token, order.payer), order.payBy);
            (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOfPayer(order.payer), digest);
            return abi.encodeCall(IPaymentGateway.payWithPermit, (order, signature, v, r, s));
        }
        if (way == Way.Authorization) {
            return abi.encodeCall(IPaymentGateway.payWithAuthorization, (order, signature, authorize(order)));
        }
        if (way == Way.Permit2) {
            uint256 nonce = uint256(order.metaData);
            return abi.encodeCall(IPaymentGateway.payWithPermit2, (order, signature, nonce, permit2(order, nonce)));
        }
        return abi.encodeCall(IPaymentGateway.collect, (order, signature));
    }

    /// @notice Who sends it: the payer where only the payer may, else anyone.
    function senderOf(Way way, IPaymentGateway.Order memory order) internal view returns (address) {
        return way == Way.Allowance || way == Way.Permit ? order.payer : stranger;
    }

    function sendAs(address caller, bytes memory data) internal {
        vm.prank(caller);
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        if (success) return;
        assembly ("memory-safe") {
            revert(add(answer, 0x20), mload(answer))
        }
    }

    /// @notice Funds and pays in that way.
    function payBy(Way way, IPaymentGateway.Order memory order) internal returns (bytes32) {
        fundFor(way, order);
        sendAs(senderOf(way, order), callOf(way, order, sign(order)));
        return digestOf(order);
    }

    /// @notice Expects that the payment is refused with `reason` and changes nothing.
    function expectRefusedBy(Way way, IPaymentGateway.Order memory order, bytes memory signature, bytes memory reason)
        internal
    {
        bytes32 before = slotOf(order);
        address source = way == Way.Deposit ? gateway.receiverOf(digestOf(order)) : order.payer;
        uint256 held = order.token.code.length == 0 ? 0 : balance(order.token, source);
        bytes memory data = callOf(way, order, signature);
        vm.prank(senderOf(way, order));
        (bool success, bytes memory answer) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(keccak256(answer), keccak256(reason), "refused for another reason");
        vm.assertEq(slotOf(order), before, "a refused payment changed the slot");
        uint256 left = order.token.code.length == 0 ? 0 : balance(order.token, source);
        vm.assertEq(left, held, "a refused payment moved tokens");
    }

    /// @dev Whoever is named as payer, `payer` signs; the invariants have more of them.
    function keyOfPayer(address) internal view virtual returns (uint256) {
        return keyOf("payer");
    }

    function noncesOf(address token, address owner) private view returns (uint256) {
        return token.code.length == 0 ? 0 : LocalUsdc(token).nonces(owner);
    }

    /// @notice The digest of EIP-2612 for the gateway.
    function permitDigest(address token, address owner, uint256 value, uint256 nonce, uint256 deadline)
        internal
        view
        returns (bytes32)
    {
        bytes32 typeHash =
            keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        return typedDigest(token, keccak256(abi.encode(typeHash, owner, address(gateway), value, nonce, deadline)));
    }

    /// @notice The digest of EIP-3009's ReceiveWithAuthorization for an order.
    function authorizationDigest(IPaymentGateway.Order memory order) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        return typedDigest(
            order.token,
            keccak256(
                abi.encode(
                    typeHash, order.payer, address(gateway), order.total, 0, uint256(order.payBy) + 1, digestOf(order)
                )
            )
        );
    }

    /// @notice The digest of Permit2's PermitWitnessTransferFrom with an order as witness.
    function permit2Digest(IPaymentGateway.Order memory order, uint256 nonce) internal view returns (bytes32) {
        string memory tokenType = "TokenPermissions(address token,uint256 amount)";
        bytes32 typeHash = keccak256(
            abi.encodePacked(
                "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Order witness)",
                ORDER_TYPE,
                tokenType
            )
        );
        bytes32 permitted = keccak256(abi.encode(keccak256(bytes(tokenType)), order.token, order.total));
        bytes32 witness = keccak256(abi.encode(keccak256(bytes(ORDER_TYPE)), order));
        return typedDigest(
            PERMIT2, keccak256(abi.encode(typeHash, permitted, address(gateway), nonce, uint256(order.payBy), witness))
        );
    }

    function authorize(IPaymentGateway.Order memory order) internal view returns (bytes memory) {
        return signDigest(keyOfPayer(order.payer), authorizationDigest(order));
    }

    function permit2(IPaymentGateway.Order memory order, uint256 nonce) internal view returns (bytes memory) {
        return signDigest(keyOfPayer(order.payer), permit2Digest(order, nonce));
    }

    function typedDigest(address verifier, bytes32 structHash) internal view returns (bytes32) {
        // Whoever signs for a token that does not exist signs something.
        if (verifier.code.length == 0) return structHash;
        return keccak256(abi.encodePacked(hex"1901", IDomainSeparator(verifier).DOMAIN_SEPARATOR(), structHash));
    }
}
