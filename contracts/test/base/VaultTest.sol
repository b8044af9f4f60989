// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalUsdc} from "../../local/LocalUsdc.sol";
import {LocalUsdt} from "../../local/LocalUsdt.sol";
import {PayoutVault} from "../../src/PayoutVault.sol";
import {IERC20} from "../../src/interfaces/IERC20.sol";
import {IPayoutVault} from "../../src/interfaces/IPayoutVault.sol";
import {HostileToken} from "../hostile/HostileToken.sol";
import {Test} from "./Test.sol";

/// @notice A vault with float and caps, and payouts that are valid until a test spoils them.
abstract contract VaultTest is Test {
    uint8 internal constant SKIP_PAID_BEFORE = 1;
    uint8 internal constant SKIP_SIGNATURE = 2;
    uint8 internal constant SKIP_INVALID = 3;
    uint8 internal constant SKIP_TOKEN = 4;
    uint8 internal constant SKIP_PER_ORDER_CAP = 5;
    uint8 internal constant SKIP_HOURLY_CAP = 6;
    uint8 internal constant SKIP_DAILY_CAP = 7;
    uint8 internal constant SKIP_TRANSFER = 8;
    uint8 internal constant SKIP_DEADLINE = 9;

    /// @dev The first second of a day.
    uint256 internal constant START = 20_833 days;
    uint64 internal constant SOURCE_CHAIN = 8453;
    uint112 internal constant PER_ORDER = 1_000e6;
    uint112 internal constant HOURLY = 2_500e6;
    uint112 internal constant DAILY = 6_000e6;
    uint256 internal constant FLOAT = 1_000_000e6;

    address internal controller = account("controller");
    address internal signer = account("vault signer");
    address internal settler = account("settler");
    address internal guardian = account("guardian");
    address internal merchant = account("merchant");
    address internal stranger = account("stranger");
    address internal minter = account("minter");

    PayoutVault internal vault;
    LocalUsdc internal usdc;
    LocalUsdt internal usdt;

    function setUp() public virtual {
        vm.warp(START);
        vault = newVault(controller, signer, settler, guardian);
        usdc = new LocalUsdc("USD Coin", "USDC", minter);
        usdt = new LocalUsdt("Tether USD", "USDT", minter);
        vm.startPrank(minter);
        usdc.mint(address(vault), FLOAT);
        usdt.issue(FLOAT);
        usdt.transfer(address(vault), FLOAT);
        vm.stopPrank();
        vm.startPrank(controller);
        vault.setCaps(address(usdc), PER_ORDER, HOURLY, DAILY);
        vault.setCaps(address(usdt), PER_ORDER, HOURLY, DAILY);
        vm.stopPrank();
    }

    function anyPayout(uint256 seed) internal view returns (IPayoutVault.Payout memory p) {
        p.orderId = bytes32(pick(seed, 0));
        p.channelId = bytes32(pick(seed, 1));
        p.metaData = bytes32(pick(seed, 2));
        p.sourceChain = SOURCE_CHAIN;
        p.token = pick(seed, 3) % 3 == 0 ? address(usdt) : address(usdc);
        p.to = merchant;
        p.amount = bound(pick(seed, 4), 1, PER_ORDER);
        p.deadline = uint64(block.timestamp + 30 days);
    }

    function payoutOf(uint256 id, uint256 amount) internal view returns (IPayoutVault.Payout memory p) {
        p = anyPayout(id);
        p.token = address(usdc);
        p.amount = amount;
    }

    function digestOf(IPayoutVault.Payout memory p) internal view returns (bytes32) {
        return digestFor(p, address(vault), block.chainid);
    }

    /// @notice The digest written out after EIP-712, sharing no code with the vault.
    function digestFor(IPayoutVault.Payout memory p, address verifier, uint256 chain) internal pure returns (bytes32) {
        bytes32 typeHash = keccak256(
            "Payout(bytes32 orderId,bytes32 channelId,bytes32 metaData,uint64 sourceChain,address token,address to,uint256 amount,uint64 deadline)"
        );
        bytes32 separator = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Florin PayoutVault"),
                keccak256("1"),
                chain,
                verifier
            )
        );
        return keccak256(abi.encodePacked(hex"1901", separator, keccak256(abi.encode(typeHash, p))));
    }

    function sign(IPayoutVault.Payout memory p) internal view returns (bytes memory) {
        return signDigest(keyOf("vault signer"), digestOf(p));
    }

    function payoutAs(address caller, IPayoutVault.Payout memory p, bytes memory signature) internal {
        vm.prank(caller);
        vault.payout(p, signature);
    }

    function payout(IPayoutVault.Payout memory p) internal {
        payoutAs(settler, p, sign(p));
    }

    /// @notice Expects that `payout` is refused with `reason`, that a batch of it is skipped with `skip`, and that
    /// neither changes anything.
    function expectRefused(IPayoutVault.Payout memory p, bytes memory signature, bytes memory reason, uint8 skip)
        internal
    {
        bytes32 before = stateOf(p);
        vm.expectRevert(reason);
        payoutAs(settler, p, signature);
        IPayoutVault.Payout[] memory payouts = new IPayoutVault.Payout[](1);
        bytes[] memory signatures = new bytes[](1);
        (payouts[0], signatures[0]) = (p, signature);
        vm.expectEmit(address(vault));
        emit IPayoutVault.PayoutSkipped(p.orderId, skip);
        vm.prank(settler);
        vault.payoutBatch(payouts, signatures);
        vm.assertEq(stateOf(p), before, "a refused payout changed something");
    }

    function stateOf(IPayoutVault.Payout memory p) private view returns (bytes32) {
        (uint256 inHour, uint256 inDay) = vault.outflowOf(p.token);
        uint256 held = p.token.code.length == 0 ? 0 : IERC20(p.token).balanceOf(address(vault));
        return keccak256(abi.encode(vault.isPaidOut(p.orderId), inHour, inDay, held));
    }

    function unauthorized(address caller) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("Unauthorized(address)", caller);
    }

    function hostile() internal returns (HostileToken token) {
        token = new HostileToken();
        token.mint(address(vault), FLOAT);
        vm.prank(controller);
        vault.setCaps(address(token), PER_ORDER, HOURLY, DAILY);
    }
}
