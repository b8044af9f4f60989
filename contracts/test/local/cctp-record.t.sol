// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {CctpTest} from "../base/CctpTest.sol";

/// @notice The stand-in against messages that Circle's own contracts sent for a route: evm-cctp-contracts at commit
/// 4061786a, as Circle sets them up. In the records 0x1111 is in the place of the messenger here, 0x2222 of the one
/// there, 0x3333 of the token and 0x4444 of the route.
contract CctpRecordTest is CctpTest {
    /// @dev Where the fields of a message begin.
    uint256 private constant DOMAIN = 8;
    uint256 private constant SENDER = 44;
    uint256 private constant RECIPIENT = 76;
    uint256 private constant TOKEN = 148 + 4;
    uint256 private constant MINT_RECIPIENT = 148 + 36;
    uint256 private constant AMOUNT = 148 + 68;
    uint256 private constant MESSAGE_SENDER = 148 + 100;
    uint256 private constant HOOK_DATA = 148 + 228;

    bytes private constant TO_BASE =
        hex"0000000100000000000000060000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000111100000000000000000000000000000000000000000000000000000000000022220000000000000000000000000000000000000000000000000000000000000000000007d000000000000000010000000000000000000000000000000000000000000000000000000000003333000000000000000000000000000000000000000000000000000000000000beef000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000044440000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000006f72646572000000000000000000000000000000000000000000000000000000";
    bytes private constant TO_POLYGON =
        hex"0000000100000000000000070000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000111100000000000000000000000000000000000000000000000000000000000022220000000000000000000000000000000000000000000000000000000000000000000007d00000000000000001000000000000000000000000000000000000000000000000000000000000333300000000000000000000000000000000000000000000000000000000000a11ce000000000000000000000000000000000000000000000000000009184e72a000000000000000000000000000000000000000000000000000000000000000444400000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000021c0107378acb490e7190da71596effe409c128f08adcc5467b293f1f3a66431";
    bytes private constant ALL_BITS =
        hex"0000000100000000000000060000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000111100000000000000000000000000000000000000000000000000000000000022220000000000000000000000000000000000000000000000000000000000000000000007d000000000000000010000000000000000000000000000000000000000000000000000000000003333000000000000000000000000ffffffffffffffffffffffffffffffffffffffff00000000000000000000000000000000000000000000000000000000075bcd150000000000000000000000000000000000000000000000000000000000004444000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

    function test_sendsTheBytesThatCircleSent() public {
        expectSent(TO_BASE, "order", 1, THERE, address(0xbeef));
        expectSent(TO_POLYGON, keccak256("order"), LIMIT, FAR, address(0xa11ce));
        expectSent(ALL_BITS, bytes32(type(uint256).max), 123_456_789, THERE, address(type(uint160).max));
    }

    function test_sendsTheSameBytesForAnyOrder(bytes32 orderId, uint256 amount, address to, bool far) public {
        vm.assume(orderId != 0 && to != address(0));
        amount = bound(amount, 1, LIMIT);
        bytes memory expected = recordFor(orderId, amount, to);
        if (far) write(expected, DOMAIN, bytes32(uint256(DOMAIN_FAR) << 224), 4);
        expectSent(expected, orderId, amount, far ? FAR : THERE, to);
    }

    function test_mintsOnceWhatCircleSent(bytes32 orderId, uint256 amount, bytes32 nonce, address to) public {
        vm.assume(nonce != 0 && to != address(0));
        amount = bound(amount, 1, LIMIT);
        bytes memory message = complete(placed(recordFor(orderId, amount, to)), nonce, 2000);
        bytes memory attestation = attest(message);
        atTarget();
        transmitterThere.receiveMessage(message, attestation);
        vm.assertEq(usdcThere.balanceOf(to), amount, "minted");
        vm.assertEq(usdcThere.totalSupply(), amount, "supply there");
        vm.assertEq(transmitterThere.usedNonces(nonce), 1, "nonce");
        vm.expectRevert(revertWith("Nonce already used"));
        transmitterThere.receiveMessage(message, attestation);
    }

    /// @notice Sends, and expects the message of `record`, and that exactly the amount was burnt.
    function expectSent(bytes memory record, bytes32 orderId, uint256 amount, uint64 target, address to) private {
        uint256 supply = usdc.totalSupply();
        vm.recordLogs();
        sendAsGateway(orderId, amount, target, to);
        vm.assertEq(keccak256(sentMessage()), keccak256(placed(record)), "bytes");
        vm.assertEq(usdc.totalSupply(), supply - amount, "burnt");
    }

    /// @notice The first record with the terms of another order.
    function recordFor(bytes32 orderId, uint256 amount, address to) private pure returns (bytes memory record) {
        record = bytes.concat(TO_BASE);
        write(record, MINT_RECIPIENT, word(to), 32);
        write(record, AMOUNT, bytes32(amount), 32);
        write(record, HOOK_DATA, orderId, 32);
    }

    /// @notice A record with the addresses of this deployment. The stand-in's messenger has one address on both chains.
    function placed(bytes memory record) private view returns (bytes memory message) {
        message = bytes.concat(record);
        write(message, SENDER, word(address(messenger)), 32);
        write(message, RECIPIENT, word(address(messenger)), 32);
        write(message, TOKEN, word(address(usdc)), 32);
        write(message, MESSAGE_SENDER, word(address(route)), 32);
    }

    function word(address value) private pure returns (bytes32) {
        return bytes32(uint256(uint160(value)));
    }
}
