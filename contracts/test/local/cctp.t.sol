// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalCctpMessage} from "../../local/LocalCctpMessage.sol";
import {CctpTest} from "../base/CctpTest.sol";

contract LocalCctpTest is CctpTest {
    /// @dev A burn of one testnet USDC on Sepolia for Base Sepolia, as Circle's service attested it.
    bytes private constant CIRCLES_MESSAGE =
        hex"000000010000000000000006a0c3b3c957b15fc43e00a189d879c8fbd7cbabfde05e252f5ab6f54a31af32530000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000008fe6b999dc680ccfdd5bf7eb0974218be2542daa0000000000000000000000000000000000000000000000000000000000000000000003e8000007d0000000010000000000000000000000001c7d4b196cb0c7b01d743fbc6116a902379c7238000000000000000000000000cab180b62d3cc891802e072af06197f012cce73600000000000000000000000000000000000000000000000000000000000f4240000000000000000000000000cab180b62d3cc891802e072af06197f012cce736000000000000000000000000000000000000000000000000000000000000000100000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

    function test_readsAndWritesCirclesBytes() public view {
        (LocalCctpMessage.Header memory header, LocalCctpMessage.Burn memory burn, bytes memory hookData) =
            reader.read(CIRCLES_MESSAGE);
        bytes32 circlesMessenger = bytes32(uint256(uint160(0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA)));
        bytes32 person = bytes32(uint256(uint160(0xcAb180b62D3cC891802E072aF06197F012ccE736)));
        vm.assertEq(header.version, 1, "version");
        vm.assertEq(header.sourceDomain, 0, "source");
        vm.assertEq(header.destinationDomain, 6, "destination");
        vm.assertEq(header.nonce, hex"a0c3b3c957b15fc43e00a189d879c8fbd7cbabfde05e252f5ab6f54a31af3253", "nonce");
        vm.assertEq(header.sender, circlesMessenger, "sender");
        vm.assertEq(header.recipient, circlesMessenger, "recipient");
        vm.assertEq(header.destinationCaller, bytes32(0), "caller");
        vm.assertEq(header.minFinalityThreshold, 1000, "asked finality");
        vm.assertEq(header.finalityThresholdExecuted, 2000, "executed finality");
        vm.assertEq(burn.version, 1, "body version");
        vm.assertEq(
            burn.burnToken, bytes32(uint256(uint160(0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238))), "Sepolia's USDC"
        );
        vm.assertEq(burn.mintRecipient, person, "mint recipient");
        vm.assertEq(burn.amount, 1e6, "amount");
        vm.assertEq(burn.messageSender, person, "message sender");
        vm.assertEq(burn.maxFee, 1, "maximum fee");
        vm.assertEq(burn.feeExecuted, 0, "fee");
        vm.assertEq(burn.expirationBlock, 0, "expiration");
        vm.assertEq(hookData.length, 0, "hook data");
        bytes memory written = LocalCctpMessage.encode(header, LocalCctpMessage.encodeBurn(burn, hookData));
        vm.assertEq(keccak256(written), keccak256(CIRCLES_MESSAGE), "bytes");
    }

    function test_mintsToTheRecipient(bytes32 orderId, uint256 amount, bytes32 nonce, address caller) public {
        vm.assume(orderId != 0 && nonce != 0);
        amount = bound(amount, 1, LIMIT);
        bytes memory message = burnt(orderId, amount, nonce);
        bytes memory attestation = attest(message);
        vm.prank(caller);
        transmitterThere.receiveMessage(message, attestation);
        vm.assertEq(usdcThere.balanceOf(merchant), amount, "merchant");
        vm.assertEq(usdcThere.totalSupply(), amount, "supply there");
        vm.assertEq(transmitterThere.usedNonces(nonce), 1, "nonce");
    }

    function test_reverts_whenReplayed(uint256 amount, bytes32 nonce) public {
        vm.assume(nonce != 0);
        bytes memory message = burnt("order", bound(amount, 1, LIMIT), nonce);
        transmitterThere.receiveMessage(message, attest(message));
        expectRefusal(message, attest(message), "Nonce already used");
        // Another message under the same nonce, and the nonce that is never given out.
        write(message, 148 + 68, bytes32(uint256(1)), 32);
        expectRefusal(message, attest(message), "Nonce already used");
        write(message, LocalCctpMessage.NONCE, 0, 32);
        expectRefusal(message, attest(message), "Nonce already used");
    }

    function test_reverts_whenTheAttestationIsWrong(uint256 amount, uint256 place) public {
        bytes memory message = burnt("order", bound(amount, 1, LIMIT), "nonce");
        bytes memory attestation = attest(message);
        expectRefusal(message, signDigest(keyOf("stranger"), keccak256(message)), "Invalid signature: not attester");
        expectRefusal(message, mirror(attestation), "Invalid signature: not attester");
        expectRefusal(message, bytes.concat(attestation, hex"00"), "Invalid attestation length");
        expectRefusal(message, "", "Invalid attestation length");
        place %= message.length;
        message[place] ^= hex"01";
        expectRefusal(message, attestation, "Invalid signature: not attester");
    }

    function test_reverts_whenTheMessageIsForSomebodyElse() public {
        bytes memory message = burnt("order", 5, "nonce");
        bytes memory changed = bytes.concat(message);
        write(changed, 8, bytes32(uint256(DOMAIN_FAR) << 224), 4);
        expectRefusal(changed, attest(changed), "Invalid destination domain");
        changed = bytes.concat(message);
        write(changed, 0, bytes32(uint256(2) << 224), 4);
        expectRefusal(changed, attest(changed), "Invalid message version");
        changed = bytes.concat(message);
        write(changed, 108, bytes32(uint256(uint160(stranger))), 32);
        expectRefusal(changed, attest(changed), "Invalid caller for message");
        changed = bytes.concat(message);
        write(changed, 44, bytes32(uint256(uint160(stranger))), 32);
        expectRefusal(changed, attest(changed), "Remote TokenMessenger unsupported");
        changed = bytes.concat(message);
        write(changed, 148, bytes32(uint256(2) << 224), 4);
        expectRefusal(changed, attest(changed), "Invalid message body version");
        changed = bytes.concat(message);
        write(changed, 148 + 4, bytes32(uint256(uint160(stranger))), 32);
        expectRefusal(changed, attest(changed), "Mint token not supported");
    }

    function test_reverts_whenTheMessageIsTooShort() public {
        bytes memory message = burnt("order", 5, "nonce");
        bytes memory cut = new bytes(148 + 227);
        for (uint256 i = 0; i < cut.length; ++i) {
            cut[i] = message[i];
        }
        expectRefusal(cut, attest(cut), "Invalid burn message: too short");
        cut = new bytes(147);
        expectRefusal(cut, attest(cut), "Invalid message: too short");
    }

    function test_reverts_whenTheTokenRefuses() public {
        bytes memory message = burnt("order", 5, "nonce");
        vm.prank(minter);
        usdcThere.blacklist(merchant);
        expectRefusal(message, attest(message), "Blacklistable: account is blacklisted");
        vm.startPrank(minter);
        usdcThere.unBlacklist(merchant);
        usdcThere.configureMinter(address(messenger), 4);
        vm.stopPrank();
        expectRefusal(message, attest(message), "FiatToken: mint amount exceeds minterAllowance");
        vm.startPrank(minter);
        usdcThere.configureMinter(address(messenger), 5);
        usdcThere.pause();
        vm.stopPrank();
        expectRefusal(message, attest(message), "Pausable: paused");
        vm.prank(minter);
        usdcThere.unpause();
        transmitterThere.receiveMessage(message, attest(message));
        vm.assertEq(usdcThere.balanceOf(merchant), 5, "merchant");
        vm.assertEq(usdcThere.minterAllowance(address(messenger)), 0, "allowance");
    }

    function test_reverts_whenExpiredOrTooDear() public {
        bytes memory message = burnt("order", 5, "nonce");
        bytes memory changed = bytes.concat(message);
        write(changed, 148 + LocalCctpMessage.EXPIRATION_BLOCK, bytes32(block.number), 32);
        expectRefusal(changed, attest(changed), "Message expired and must be re-signed");
        write(changed, 148 + LocalCctpMessage.EXPIRATION_BLOCK, bytes32(block.number + 1), 32);
        write(changed, 148 + LocalCctpMessage.FEE_EXECUTED, bytes32(uint256(1)), 32);
        expectRefusal(changed, attest(changed), "Fee exceeds max fee");
        write(changed, 148 + LocalCctpMessage.FEE_EXECUTED, bytes32(uint256(5)), 32);
        expectRefusal(changed, attest(changed), "Fee equals or exceeds amount");
    }

    function test_mintsLessTheFeeBeforeFinality(uint256 amount, uint256 fee, uint32 finality) public {
        amount = bound(amount, 2, LIMIT);
        fee = bound(fee, 1, amount - 1);
        finality = uint32(bound(finality, 500, 1999));
        bytes memory message = burnt("order", amount, "nonce");
        write(message, 148 + 132, bytes32(fee), 32);
        write(message, 148 + LocalCctpMessage.FEE_EXECUTED, bytes32(fee), 32);
        write(message, LocalCctpMessage.FINALITY_EXECUTED, bytes32(uint256(499) << 224), 4);
        expectRefusal(message, attest(message), "Unsupported finality threshold");
        write(message, LocalCctpMessage.FINALITY_EXECUTED, bytes32(uint256(finality) << 224), 4);
        transmitterThere.receiveMessage(message, attest(message));
        vm.assertEq(usdcThere.balanceOf(merchant), amount - fee, "merchant");
        vm.assertEq(usdcThere.balanceOf(circle), fee, "circle");
    }

    function test_reverts_whenAnyoneElseCalls(address caller) public {
        vm.assume(caller != address(transmitter) && caller != circle && caller != minter);
        vm.startPrank(caller);
        bytes memory body =
            LocalCctpMessage.encodeBurn(LocalCctpMessage.Burn(1, 0, bytes32(uint256(1)), 1, 0, 0, 0, 0), "");
        bytes32 sender = bytes32(uint256(uint160(address(messenger))));
        vm.expectRevert(revertWith("Invalid message transmitter"));
        messenger.handleReceiveFinalizedMessage(0, sender, 2000, body);
        bytes memory notOwner = revertWith("Ownable: caller is not the owner");
        vm.expectRevert(notOwner);
        messenger.setMinFee(1);
        vm.expectRevert(notOwner);
        messenger.setDenylisted(merchant, true);
        vm.expectRevert(notOwner);
        messenger.setMaxBurnAmountPerMessage(address(usdc), 1);
        vm.expectRevert(notOwner);
        messenger.linkTokenPair(address(usdc), 1, 0);
        vm.expectRevert(notOwner);
        transmitter.setPaused(true);
        vm.expectRevert(revertWith("FiatToken: caller is not a minter"));
        usdc.burn(1);
        vm.stopPrank();
    }

    /// @notice The message of a burn, completed as the attester completes it, on the chain where it mints.
    function burnt(bytes32 orderId, uint256 amount, bytes32 nonce) private returns (bytes memory message) {
        vm.recordLogs();
        sendAsGateway(orderId, amount, THERE, merchant);
        message = complete(sentMessage(), nonce, 2000);
        atTarget();
    }

    function expectRefusal(bytes memory message, bytes memory attestation, string memory reason) private {
        uint256 supply = usdcThere.totalSupply();
        vm.expectRevert(revertWith(reason));
        transmitterThere.receiveMessage(message, attestation);
        vm.assertEq(usdcThere.totalSupply(), supply, "a refused message minted");
    }
}
