// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The bytes of CCTP v2 messages
/// @notice The layout that Circle documents (developers.circle.com/cctp, "message format"): a header of 148 bytes, then
/// a burn's body of 228 bytes and its hook data. Circle's attestation service fills in four fields that are zero in
/// the message as it was sent: nonce, executed finality, executed fee and expiration block.
library LocalCctpMessage {
    uint256 internal constant NONCE = 12;
    uint256 internal constant FINALITY_EXECUTED = 144;
    uint256 internal constant BODY = 148;
    uint256 internal constant FEE_EXECUTED = 164;
    uint256 internal constant EXPIRATION_BLOCK = 196;
    uint256 internal constant HOOK_DATA = 228;

    struct Header {
        uint32 version;
        uint32 sourceDomain;
        uint32 destinationDomain;
        bytes32 nonce;
        bytes32 sender;
        bytes32 recipient;
        bytes32 destinationCaller;
        uint32 minFinalityThreshold;
        uint32 finalityThresholdExecuted;
    }

    struct Burn {
        uint32 version;
        bytes32 burnToken;
        bytes32 mintRecipient;
        uint256 amount;
        bytes32 messageSender;
        uint256 maxFee;
        uint256 feeExecuted;
        uint256 expirationBlock;
    }

    function encode(Header memory header, bytes memory body) internal pure returns (bytes memory) {
        return bytes.concat(
            abi.encodePacked(header.version, header.sourceDomain, header.destinationDomain, header.nonce),
            abi.encodePacked(header.sender, header.recipient, header.destinationCaller),
            abi.encodePacked(header.minFinalityThreshold, header.finalityThresholdExecuted),
            body
        );
    }

    function encodeBurn(Burn memory burn, bytes memory hookData) internal pure returns (bytes memory) {
        return bytes.concat(
            abi.encodePacked(burn.version, burn.burnToken, burn.mintRecipient, burn.amount, burn.messageSender),
            abi.encodePacked(burn.maxFee, burn.feeExecuted, burn.expirationBlock),
            hookData
        );
    }

    function decode(bytes calldata message) internal pure returns (Header memory header, bytes calldata body) {
        require(message.length >= BODY, "Invalid message: too short");
        header.version = uint32(bytes4(message[0:4]));
        header.sourceDomain = uint32(bytes4(message[4:8]));
        header.destinationDomain = uint32(bytes4(message[8:12]));
        header.nonce = bytes32(message[12:44]);
        header.sender = bytes32(message[44:76]);
        header.recipient = bytes32(message[76:108]);
        header.destinationCaller = bytes32(message[108:140]);
        header.minFinalityThreshold = uint32(bytes4(message[140:144]));
        header.finalityThresholdExecuted = uint32(bytes4(message[144:148]));
        body = message[BODY:];
    }

    function decodeBurn(bytes calldata body) internal pure returns (Burn memory burn, bytes calldata hookData) {
        require(body.length >= HOOK_DATA, "Invalid burn message: too short");
        burn.version = uint32(bytes4(body[0:4]));
        burn.burnToken = bytes32(body[4:36]);
        burn.mintRecipient = bytes32(body[36:68]);
        burn.amount = uint256(bytes32(body[68:100]));
        burn.messageSender = bytes32(body[100:132]);
        burn.maxFee = uint256(bytes32(body[132:164]));
        burn.feeExecuted = uint256(bytes32(body[164:196]));
        burn.expirationBlock = uint256(bytes32(body[196:228]));
        hookData = body[HOOK_DATA:];
    }
}
