// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../local/LocalUsdc.sol";
import {IPaymentGateway} from "../src/interfaces/IPaymentGateway.sol";
import {TokenTransfer} from "../src/libraries/TokenTransfer.sol";
import {SigningTest} from "./base/SigningTest.sol";
import {ForgetfulToken} from "./hostile/ForgetfulToken.sol";
import {HostileToken} from "./hostile/HostileToken.sol";
import {KeyedWallet, SilentFallback} from "./hostile/wallets.sol";

contract PayWithAuthorizationTest is SigningTest {
    /// @dev Circle's token asks the wallet: with 65 bytes through the form of three parts, else through that of bytes.
    function test_paysFromAnEip1271Wallet(uint256 seed, uint8 extra) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(realUsdc);
        KeyedWallet wallet = new KeyedWallet(vm.addr(keyOf("owner")));
        order.payer = address(wallet);
        fundFor(Way.Authorization, order);
        bytes memory authorization =
            abi.encodePacked(signDigest(keyOf("owner"), authorizationDigest(order)), new bytes(extra % 64));
        gateway.payWithAuthorization(order, sign(order), authorization);
        vm.assertEq(balance(order.token, address(wallet)), 0, "wallet");
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenTheWalletRefuses(uint256 seed, uint8 extra) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(realUsdc);
        order.payer = address(new KeyedWallet(vm.addr(keyOf("owner"))));
        fundFor(Way.Authorization, order);
        bytes memory authorization =
            abi.encodePacked(signDigest(keyOf("stranger"), authorizationDigest(order)), new bytes(extra % 64));
        expectFailed(order, authorization);
    }

    /// @dev An account that has delegated its code is asked as a wallet; one whose code takes keys of its own still
    /// pays.
    function test_paysFromADelegatedAccount(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = address(realUsdc);
        fundFor(Way.Authorization, order);
        vm.signAndAttachDelegation(address(new KeyedWallet(payer)), keyOf("payer"));
        gateway.payWithAuthorization(order, sign(order), authorize(order));
        vm.assertEq(payer.code.length, 23, "delegation");
        vm.assertEq(statusOf(order), order.orderType == DIRECT ? SETTLED : PAID, "status");
    }

    function test_reverts_whenAuthorizedForSomethingElse(uint256 seed, uint8 which) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Authorization, order);
        bytes32 orderId = digestOf(order);
        uint256 validBefore = uint256(order.payBy) + 1;
        address self = address(gateway);
        bytes32 receives = usdc.RECEIVE_WITH_AUTHORIZATION_TYPEHASH();
        bytes32 transfers = usdc.TRANSFER_WITH_AUTHORIZATION_TYPEHASH();
        bytes[7] memory structs = [
            abi.encode(receives, payer, self, order.total, 0, validBefore, keccak256("another order")),
            abi.encode(receives, payer, self, order.total + 1, 0, validBefore, orderId),
            abi.encode(receives, payer, merchant, order.total, 0, validBefore, orderId),
            abi.encode(receives, payer, self, order.total, 1, validBefore, orderId),
            abi.encode(receives, payer, self, order.total, 0, validBefore + 1, orderId),
            abi.encode(transfers, payer, self, order.total, 0, validBefore, orderId),
            abi.encode(receives, stranger, self, order.total, 0, validBefore, orderId)
        ];
        bytes32 digest = typedDigest(order.token, keccak256(structs[which % 7]));
        expectFailed(order, signDigest(keyOf("payer"), digest));
    }

    function test_reverts_whenAnyBitOfTheAuthorizationIsFlipped(uint256 seed, uint16 bit) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Authorization, order);
        bytes memory authorization = authorize(order);
        uint256 place = bit % (65 * 8);
        authorization[place / 8] = bytes1(uint8(authorization[place / 8]) ^ uint8(1 << (7 - place % 8)));
        expectFailed(order, authorization);
    }

    function test_reverts_whenTheAuthorizationIsForAnotherToken(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        bytes memory authorization = authorize(order);
        order.token = order.token == address(usdc) ? address(realUsdc) : address(usdc);
        fundFor(Way.Authorization, order);
        expectFailed(order, authorization);
    }

    function test_reverts_whenThePayerHasCancelled(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Authorization, order);
        bytes32 digest = typedDigest(
            order.token, keccak256(abi.encode(usdc.CANCEL_AUTHORIZATION_TYPEHASH(), payer, digestOf(order)))
        );
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(keyOf("payer"), digest);
        LocalUsdc(order.token).cancelAuthorization(payer, digestOf(order), v, r, s);
        expectFailed(order, authorize(order));
    }

    /// @dev Only the payee can bring an authorization, so a front-runner cannot spend it without the order.
    function test_reverts_whenAFrontRunnerTakesTheAuthorizationToTheToken(uint256 seed) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        fundFor(Way.Authorization, order);
        bytes memory authorization = authorize(order);
        (bytes32 r, uint256 s, uint8 v) = split(authorization);
        bytes32 orderId = digestOf(order);
        vm.prank(stranger);
        vm.expectRevert();
        LocalUsdc(order.token)
            .receiveWithAuthorization(
                payer, address(gateway), order.total, 0, uint256(order.payBy) + 1, orderId, v, r, bytes32(s)
            );
        gateway.payWithAuthorization(order, sign(order), authorization);
    }

    function test_reverts_whenTheTokenHasNoAuthorizations(uint256 seed, uint8 which, uint8 length) public {
        IPaymentGateway.Order memory order = anySignedOrder(seed);
        order.token = [address(usdt), address(dai), address(new SilentFallback())][which % 3];
        // Other payers' money, which a token that only nods must not make ours.
        if (which % 3 != 2) give(order.token, address(gateway), order.total);
        bytes memory signature = sign(order);
        (bool success,) = callRaw(
            address(gateway),
            abi.encodeCall(IPaymentGateway.payWithAuthorization, (order, signature, new bytes(length)))
        );
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(statusOf(order), UNKNOWN, "status");
    }

    function test_reverts_whenTheTokenIsHostile(uint256 seed, uint8 which, bool direct) public {
        HostileToken.Mode[8] memory modes = [
            HostileToken.Mode.TakesFee,
            HostileToken.Mode.ReturnsFalse,
            HostileToken.Mode.ReturnsTwo,
            HostileToken.Mode.ReturnsOneByte,
            HostileToken.Mode.LiesAboutMoving,
            HostileToken.Mode.DeliversTooMuch,
            HostileToken.Mode.Reverts,
            HostileToken.Mode.RevertsWithBomb
        ];
        (HostileToken token, IPaymentGateway.Order memory order) = hostileOrder(seed, direct);
        token.set(modes[which % 8], address(0));
        expectHostile(token, order);
        token.set(HostileToken.Mode.Honest, address(0));
        gateway.payWithAuthorization(order, sign(order), new bytes(65));
    }

    /// @dev In parts and as bytes alike. The one unit that the gateway holds must not pass for an answer of true.
    function test_tellsWhatIsWrongWithTheToken() public {
        HostileToken.Mode[11] memory modes = refusedModes();
        for (uint256 i = 0; i < 2 * modes.length; ++i) {
            if (modes[i / 2] == HostileToken.Mode.MovesAndReturnsFalse) continue;
            (HostileToken token, IPaymentGateway.Order memory order) = hostileOrder(i, false);
            token.rebase(address(gateway), 1);
            token.set(modes[i / 2], address(0));
            bytes memory signature = sign(order);
            vm.expectRevert(refusalOfUnread(modes[i / 2], address(token)));
            gateway.payWithAuthorization(order, signature, new bytes(i % 2 == 0 ? 65 : 66));
        }
    }

    /// @dev EIP-3009 gives its function no answer. What arrived decides.
    function test_takesExactlyWhatArrivedWhateverTheTokenAnswers() public {
        for (uint256 i = 0; i < 2; ++i) {
            (HostileToken token, IPaymentGateway.Order memory order) = hostileOrder(i, false);
            token.set(HostileToken.Mode.MovesAndReturnsFalse, address(0));
            gateway.payWithAuthorization(order, sign(order), new bytes(i == 0 ? 65 : 66));
            vm.assertEq(statusOf(order), PAID, "status");
        }
    }

    function test_reverts_whenTheTokenDoesNotTellABalance() public {
        IPaymentGateway.Order memory order = plainOrder();
        for (uint8 i = 0; i < 9; ++i) {
            // Before the move, after it, or both.
            (uint256 from, uint256 to) = i < 3 ? (0, 1) : i < 6 ? (1, 2) : (0, 2);
            order.token = address(new ForgetfulToken(ForgetfulToken.Answer(i % 3), from, to, payer, order.total));
            bytes memory signature = sign(order);
            vm.expectRevert(balanceUnavailable(order.token));
            gateway.payWithAuthorization(order, signature, new bytes(65));
        }
    }

    /// @dev Bytes of another length are never cut or filled up to the three parts.
    function test_reverts_whenTheTokenTakesPartsOnly() public {
        IPaymentGateway.Order memory order = plainOrder();
        ForgetfulToken.Answer never = ForgetfulToken.Answer.Nothing;
        order.token = address(new ForgetfulToken(never, 9, 9, payer, order.total));
        bytes memory signature = sign(order);
        uint8[3] memory lengths = [0, 64, 66];
        for (uint256 i = 0; i < 3; ++i) {
            vm.expectRevert(transferFailed(order.token));
            gateway.payWithAuthorization(order, signature, new bytes(lengths[i]));
        }
        gateway.payWithAuthorization(order, signature, new bytes(65));
        vm.assertEq(statusOf(order), PAID, "status");
    }

    /// @dev In is honest, out is not: the legs of a direct order are compared too, and nothing of others pays for them.
    function test_reverts_whenALegOfADirectOrderIsInexact(uint256 seed, uint8 which, bool ofFee) public {
        HostileToken.Mode[4] memory modes = [
            HostileToken.Mode.TakesFee,
            HostileToken.Mode.LiesAboutMoving,
            HostileToken.Mode.DeliversTooMuch,
            HostileToken.Mode.ReturnsFalse
        ];
        (HostileToken token, IPaymentGateway.Order memory order) = hostileOrder(seed, true);
        // A token that refuses the fee recipient stops nothing: see fee-recipient.t.sol.
        token.set(modes[which % (ofFee ? 3 : 4)], ofFee ? feeRecipient : merchant);
        expectHostile(token, order);
    }

    /// @dev Both legs arrive exactly, and the token takes one unit more from the gateway, which is somebody else's.
    function test_reverts_whenALegOfADirectOrderCostsMore(bool ofFee) public {
        (HostileToken token, IPaymentGateway.Order memory order) = hostileOrder(1, true);
        token.set(HostileToken.Mode.ChargesSender, ofFee ? feeRecipient : merchant);
        bytes memory signature = sign(order);
        vm.expectRevert(inexact(address(token), 0, 0));
        gateway.payWithAuthorization(order, signature, new bytes(65));
    }

    function hostileOrder(uint256 seed, bool direct)
        private
        returns (HostileToken token, IPaymentGateway.Order memory order)
    {
        token = new HostileToken();
        order = anyOrderOf(seed, direct ? DIRECT : ESCROW);
        order.token = address(token);
        (order.total, order.payment, order.fee) = (1_000, 1_000, 10);
        token.mint(payer, 1_000);
        token.mint(address(gateway), 5_000);
    }

    function expectHostile(HostileToken token, IPaymentGateway.Order memory order) private {
        bytes memory signature = sign(order);
        (bool success,) = callRaw(
            address(gateway), abi.encodeCall(IPaymentGateway.payWithAuthorization, (order, signature, new bytes(65)))
        );
        vm.assertEq(success, false, "it was paid");
        vm.assertEq(statusOf(order), UNKNOWN, "status");
        vm.assertEq(token.balanceOf(address(gateway)), 5_000, "others' money");
    }

    function expectFailed(IPaymentGateway.Order memory order, bytes memory authorization) private {
        bytes memory signature = sign(order);
        vm.expectRevert(abi.encodeWithSelector(TokenTransfer.TransferFailed.selector, order.token));
        gateway.payWithAuthorization(order, signature, authorization);
        vm.assertEq(statusOf(order), UNKNOWN, "status");
        vm.assertEq(balance(order.token, order.payer), order.total, "payer");
    }

    /// @dev As `refusalOf`, where the token's answer is not read.
    function refusalOfUnread(HostileToken.Mode mode, address token) private pure returns (bytes memory) {
        bool isAnswer = mode >= HostileToken.Mode.ReturnsFalse && mode <= HostileToken.Mode.ReturnsZeroByte;
        return isAnswer ? inexact(token, 1_000, 0) : refusalOf(mode, token, 1_000);
    }
}
