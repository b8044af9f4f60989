// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../local/LocalUsdc.sol";
import {IDepositReceiver} from "../src/interfaces/IDepositReceiver.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {ForgetfulToken} from "./hostile/ForgetfulToken.sol";
import {HostileToken} from "./hostile/HostileToken.sol";

contract CollectTest is SigningTest {
    function test_takesExactlyTheTotalOfManyTransfers(uint256 seed, uint256 excess, address caller) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        (order.orderType, order.targetChain, order.via) = (ESCROW, uint64(block.chainid), address(0));
        address receiver = gateway.receiverOf(digestOf(order));
        excess = bound(excess, 0, MAX_TOTAL);
        uint256 first = bound(pick(seed, 70), 0, order.total);
        give(order.token, receiver, first);
        give(order.token, receiver, order.total - first);
        give(order.token, receiver, excess);
        bytes memory signature = sign(order);
        vm.prank(caller);
        gateway.collect(order, signature);
        vm.assertEq(balance(order.token, address(gateway)), order.total, "gateway");
        vm.assertEq(balance(order.token, receiver), excess, "receiver");
        vm.assertEq(statusOf(order), PAID, "status");
    }

    function test_takesWhatCameByRelayedAuthorization(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        give(order.token, stranger, order.total);
        address receiver = gateway.receiverOf(digestOf(order));
        bytes32 digest = typedDigest(
            order.token,
            keccak256(
                abi.encode(
                    usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH(),
                    stranger,
                    receiver,
                    order.total,
                    0,
                    type(uint256).max,
                    bytes32(seed)
                )
            )
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("stranger"), digest);
        vm.prank(settler);
        LocalUsdc(order.token)
            .transferWithAuthorization(stranger, receiver, order.total, 0, type(uint256).max, bytes32(seed), v, r, s);
        gateway.collect(order, sign(order));
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_tellsTheReceiver(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Deposit, order);
        bytes memory signature = sign(order);
        expectPaid(order);
        vm.expectEmit(address(gateway));
        emit IPaymentGateway.Collected(digestOf(order), gateway.receiverOf(digestOf(order)));
        gateway.collect(order, signature);
    }

    /// @dev A first rescue puts the code there; a payment comes after it.
    function test_takesWhatCameAfterTheCode(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        address receiver = gateway.receiverOf(digestOf(order));
        give(address(dai), receiver, 1);
        gateway.rescue(order, address(dai));
        vm.assertEq(receiver.code.length, 45, "code of ERC-1167");
        fundFor(Way.Deposit, order);
        gateway.collect(order, sign(order));
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_takesWhenTheReceiverHoldsCoin(uint256 seed, uint64 coin) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        vm.deal(gateway.receiverOf(digestOf(order)), coin);
        fundFor(Way.Deposit, order);
        gateway.collect(order, sign(order));
        vm.assertEq(gateway.receiverOf(digestOf(order)).balance, coin, "the coin waits for its rescue");
    }

    function test_receiverIsTheProxyAtItsCreate2Address(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        bytes32 orderId = payBy(Way.Deposit, order);
        address receiver = gateway.receiverOf(orderId);
        bytes memory code = receiver.code;
        address implementation;
        assembly ("memory-safe") {
            implementation := shr(96, mload(add(code, 0x2a)))
        }
        vm.assertEq(
            keccak256(code),
            keccak256(abi.encodePacked(hex"363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3")),
            "ERC-1167"
        );
        bytes32 codeHash = keccak256(abi.encodePacked(hex"3d602d80600a3d3981f3", code));
        bytes32 hash = keccak256(abi.encodePacked(hex"ff", address(gateway), orderId, codeHash));
        vm.assertEq(receiver, address(uint160(uint256(hash))), "CREATE2");
    }

    function test_receiverChangesWithEveryBitOfTheOrder(uint256 seed, uint16 bit) public view {
        bytes32 orderId = digestOf(anySignedOrder(seed));
        bytes32 other = orderId ^ bytes32(uint256(1) << (bit % 256));
        vm.assertEq(gateway.receiverOf(orderId) == gateway.receiverOf(other), false, "one address for two orders");
    }

    function test_reverts_whenAnyoneElseMovesWhatAReceiverHolds(uint256 seed, address caller) public {
        vm.assume(caller != address(gateway));
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        address receiver = gateway.receiverOf(payBy(Way.Deposit, order));
        give(order.token, receiver, 5);
        vm.deal(receiver, 5);
        address[2] memory targets = [receiver, deploy("DepositReceiver", "")];
        for (uint256 i = 0; i < 2; ++i) {
            if (caller == address(this)) caller = stranger;
            vm.expectRevert(abi.encodeWithSelector(IDepositReceiver.NotGateway.selector, caller));
            vm.prank(caller);
            IDepositReceiver(targets[i]).forward(order.token, caller, 5);
            vm.expectRevert(abi.encodeWithSelector(IDepositReceiver.NotGateway.selector, caller));
            vm.prank(caller);
            IDepositReceiver(targets[i]).forward(address(0), caller, 1);
        }
        vm.assertEq(balance(order.token, receiver), 5, "receiver");
    }

    function test_reverts_whenTheTokenDoesNotDeliverExactly(uint256 seed, uint8 which, uint8 leg) public {
        HostileToken token = new HostileToken();
        bool direct = leg % 3 != 0;
        IPaymentGateway.Order memory order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        token.mint(gateway.receiverOf(digestOf(order)), 1_000);
        token.mint(address(gateway), 5_000);
        HostileToken.Mode[5] memory modes = [
            HostileToken.Mode.TakesFee,
            HostileToken.Mode.LiesAboutMoving,
            HostileToken.Mode.DeliversTooMuch,
            HostileToken.Mode.ReturnsFalse,
            HostileToken.Mode.Reverts
        ];
        // A token that refuses the fee recipient stops nothing: see fee-recipient.t.sol.
        token.set(modes[which % (leg % 3 == 2 ? 3 : 5)], [address(gateway), merchant, feeRecipient][leg % 3]);
        bytes memory data = abi.encodeCall(IPaymentGateway.collect, (order, sign(order)));
        (bool success,) = callRaw(address(gateway), data);
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(statusOf(order), UNKNOWN, "status");
        vm.assertEq(token.balanceOf(address(gateway)), 5_000, "others' money");
    }

    function test_tellsWhatIsWrongWithTheToken() public {
        HostileToken.Mode[11] memory modes = refusedModes();
        address[3] memory recipients = [address(gateway), merchant, feeRecipient];
        uint16[3] memory legs = [1_000, 990, 10];
        for (uint256 i = 0; i < 3 * modes.length; ++i) {
            HostileToken token = new HostileToken();
            IPaymentGateway.Order memory order = anyOrderOf(i, i % 3 == 0 ? ESCROW : DIRECT);
            order.token = address(token);
            (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
            token.mint(gateway.receiverOf(digestOf(order)), 1_000);
            token.mint(recipients[i % 3], 7);
            token.set(modes[i / 3], recipients[i % 3]);
            bytes memory signature = sign(order);
            bytes memory refusal = refusalOf(modes[i / 3], address(token), legs[i % 3]);
            // The address's own call is undone as a whole; the gateway's legs are compared.
            if (i % 3 != 0 && modes[i / 3] == HostileToken.Mode.MovesAndReturnsFalse) {
                refusal = inexact(address(token), 0, legs[i % 3]);
            }
            if (i % 3 == 2 && bytes4(refusal) == TokenTransfer.TransferFailed.selector) {
                gateway.collect(order, signature);
                vm.assertEq(gateway.accruedFees(address(token)), 10, "accrued");
                continue;
            }
            vm.expectRevert(refusal);
            gateway.collect(order, signature);
        }
    }

    function test_reverts_whenTheTokenDoesNotTellABalance() public {
        IPaymentGateway.Order memory order = plainOrder();
        for (uint8 i = 0; i < 9; ++i) {
            // Before the move, after it, or both.
            (uint256 from, uint256 to) = i < 3 ? (0, 1) : i < 6 ? (1, 2) : (0, 2);
            order.token = address(new ForgetfulToken(ForgetfulToken.Answer(i % 3), from, to, payer, order.total));
            give(order.token, gateway.receiverOf(digestOf(order)), order.total);
            bytes memory signature = sign(order);
            vm.expectRevert(balanceUnavailable(order.token));
            gateway.collect(order, signature);
        }
    }

    /// @dev A nonce stands for whatever keeps the receiver's code from being put there.
    function test_reverts_whenTheReceiverCannotBeDeployed(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Deposit, order);
        vm.setNonce(gateway.receiverOf(digestOf(order)), 1);
        bytes memory signature = sign(order);
        expectError(TokenTransfer.InsufficientGas.selector);
        gateway.collect(order, signature);
    }
}
