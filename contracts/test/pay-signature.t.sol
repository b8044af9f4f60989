// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {GatewayTest} from "./base/GatewayTest.sol";

contract PaySignatureTest is GatewayTest {
    /// @dev A number that is the first coordinate of a point on the curve, as r must be.
    uint256 private constant GENERATOR_X = 0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798;

    function test_reverts_whenTheSignerIsNotTheService(uint256 seed, uint256 key) public {
        key = bound(key, 1, CURVE_ORDER - 1);
        vm.assume(vm.addr(key) != signer);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(key, digestOf(order)));
    }

    function test_reverts_whenTheSignerIsRevoked(uint256 seed, bool byGuardian) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.prank(byGuardian ? guardian : controller);
        gateway.setSigner(signer, false);
        expectInvalid(order, sign(order));
    }

    function test_takesEverySignerUntilItIsRevoked(uint256 seed) public {
        address second = account("second signer");
        vm.prank(controller);
        gateway.setSigner(second, true);
        IPaymentGateway.Order memory order = anyOrder(seed);
        pay(order);
        order.metaData = keccak256("by the second");
        fund(order);
        bytes memory signature = signDigest(keyOf("second signer"), digestOf(order));
        payAs(payer, order, signature);
        // Revoking the latest leaves the earlier one, and the other way round.
        vm.prank(guardian);
        gateway.setSigner(second, false);
        order.metaData = keccak256("after the second");
        fund(order);
        expectInvalid(order, signDigest(keyOf("second signer"), digestOf(order)));
        payAs(payer, order, sign(order));
    }

    function test_reverts_whenTheSignatureIsNotCanonical(uint256 seed, uint8 form, uint8 v) public {
        vm.assume(v != 27 && v != 28);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory good = sign(order);
        (bytes32 r, uint256 s, uint8 goodV) = split(good);
        bytes[7] memory forms = [
            mirror(good),
            abi.encodePacked(r, s, v),
            abi.encodePacked(r, s, goodV - 27),
            abi.encodePacked(r, s | (uint256(goodV - 27) << 255)),
            abi.encodePacked(good, uint8(0)),
            abi.encodePacked(r, s),
            bytes("")
        ];
        expectInvalid(order, forms[form % 7]);
    }

    function test_reverts_whenRecoveryFails(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, new bytes(65));
        expectInvalid(order, abi.encodePacked(bytes32(0), uint256(1), uint8(27)));
        expectInvalid(order, abi.encodePacked(uint256(CURVE_ORDER), uint256(1), uint8(27)));
    }

    /// @dev A signature that recovers no account never counts, whatever accounts are signers.
    function test_reverts_whenRecoveryFailsAndTheFirstAddressIsASigner(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        vm.prank(controller);
        gateway.setSigner(address(1), true);
        expectInvalid(order, abi.encodePacked(bytes32(uint256(1)), uint256(1), uint8(29)));
        expectInvalid(order, new bytes(64));
        expectInvalid(order, mirror(sign(order)));
    }

    /// @dev Half the curve's order is the largest s that counts. One more is its mirror image, and recovers the same account.
    function test_takesTheLargestLowS(uint256 seed) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes32 r = bytes32(GENERATOR_X);
        bytes memory low = abi.encodePacked(r, CURVE_ORDER / 2, uint8(27));
        address last = ecrecover(digestOf(order), 27, r, bytes32(CURVE_ORDER / 2));
        vm.prank(controller);
        gateway.setSigner(last, true);
        expectInvalid(order, mirror(low));
        payAs(payer, order, low);
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_reverts_whenAnyBitOfTheOrderIsFlipped(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory data = abi.encodeCall(IPaymentGateway.pay, (order, sign(order)));
        flip(data, 4 * 8 + bit % (13 * 256));
        vm.prank(payer);
        (bool success,) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "an order with a flipped bit was paid");
        vm.assertEq(balance(order.token, payer), order.total, "payer");
    }

    function test_reverts_whenAnyBitOfTheSignatureIsFlipped(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        flip(signature, bit % (65 * 8));
        expectInvalid(order, signature);
    }

    function test_reverts_whenSignedForAnotherChain(uint256 seed, uint64 chain) public {
        vm.assume(chain != block.chainid);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(keyOf("order signer"), digestFor(order, address(gateway), chain)));
    }

    function test_reverts_whenSignedForAnotherContract(uint256 seed, address other) public {
        vm.assume(other != address(gateway));
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        expectInvalid(order, signDigest(keyOf("order signer"), digestFor(order, other, block.chainid)));
    }

    function test_reverts_whenTheChainForks(uint256 seed, uint64 chain) public {
        vm.assume(chain != block.chainid && chain != 0);
        IPaymentGateway.Order memory order = anyOrder(seed);
        fund(order);
        bytes memory signature = sign(order);
        vm.chainId(chain);
        vm.expectRevert(abi.encodeWithSelector(IPaymentGateway.WrongTargetChain.selector, order.targetChain));
        payAs(payer, order, signature);
        order.targetChain = chain;
        expectInvalid(order, signature);
        payAs(payer, order, sign(order));
    }

    function expectInvalid(IPaymentGateway.Order memory order, bytes memory signature) private {
        expectRefused(order, signature, abi.encodeWithSelector(IPaymentGateway.InvalidSignature.selector));
    }

    /// @dev Bits count from the first byte's highest.
    function flip(bytes memory data, uint256 bit) private pure {
        data[bit / 8] = bytes1(uint8(data[bit / 8]) ^ uint8(1 << (7 - bit % 8)));
    }
}
