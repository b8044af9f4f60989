// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Signature} from "../src/libraries/Signature.sol";
import {LocalCctpMessage} from "./LocalCctpMessage.sol";

/// @notice What a transmitter calls with a message that it has checked, as Circle's does.
interface IMessageHandler {
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool);
}

/// @title A stand-in for Circle's MessageTransmitterV2 on development chains
/// @notice Same messages, events, checks and order of checks; one attester in place of Circle's set.
contract LocalMessageTransmitter {
    uint32 public constant version = 1;
    uint256 public constant NONCE_USED = 1;
    uint256 public constant maxMessageBodySize = 8192;
    uint32 private constant FINALIZED = 2000;

    uint32 public immutable localDomain;
    address public immutable attester;
    address public immutable owner;
    bool public paused;
    mapping(bytes32 nonce => uint256) public usedNonces;

    event MessageSent(bytes message);
    event MessageReceived(
        address indexed caller,
        uint32 sourceDomain,
        bytes32 indexed nonce,
        bytes32 sender,
        uint32 indexed finalityThresholdExecuted,
        bytes messageBody
    );
    event Pause();
    event Unpause();

    /// @dev Takes the domains of all chains, so that its address is the same on each.
    constructor(address owner_, address attester_, uint64[] memory chains, uint32[] memory domains) {
        require(attester_ != address(0), "Attester is the zero address");
        uint256 place = 0;
        while (chains[place] != block.chainid) ++place;
        (owner, attester, localDomain) = (owner_, attester_, domains[place]);
        usedNonces[bytes32(0)] = NONCE_USED;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    function setPaused(bool paused_) external {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        paused = paused_;
        if (paused_) emit Pause();
        else emit Unpause();
    }

    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external whenNotPaused {
        require(destinationDomain != localDomain, "Domain is local domain");
        require(messageBody.length <= maxMessageBodySize, "Message body exceeds max size");
        require(recipient != bytes32(0), "Recipient must be nonzero");
        LocalCctpMessage.Header memory header = LocalCctpMessage.Header({
            version: version,
            sourceDomain: localDomain,
            destinationDomain: destinationDomain,
            nonce: bytes32(0),
            sender: bytes32(uint256(uint160(msg.sender))),
            recipient: recipient,
            destinationCaller: destinationCaller,
            minFinalityThreshold: minFinalityThreshold,
            finalityThresholdExecuted: 0
        });
        emit MessageSent(LocalCctpMessage.encode(header, messageBody));
    }

    function receiveMessage(bytes calldata message, bytes calldata attestation) external whenNotPaused returns (bool) {
        require(attestation.length == 65, "Invalid attestation length");
        require(Signature.recover(keccak256(message), attestation) == attester, "Invalid signature: not attester");
        (LocalCctpMessage.Header memory header, bytes calldata body) = LocalCctpMessage.decode(message);
        require(header.destinationDomain == localDomain, "Invalid destination domain");
        if (header.destinationCaller != bytes32(0)) {
            require(
                header.destinationCaller == bytes32(uint256(uint160(msg.sender))), "Invalid caller for message"
            );
        }
        require(header.version == version, "Invalid message version");
        require(usedNonces[header.nonce] == 0, "Nonce already used");
        usedNonces[header.nonce] = NONCE_USED;
        _handle(header, body);
        emit MessageReceived(
            msg.sender, header.sourceDomain, header.nonce, header.sender, header.finalityThresholdExecuted, body
        );
        return true;
    }

    function _handle(LocalCctpMessage.Header memory header, bytes calldata body) private {
        IMessageHandler handler = IMessageHandler(address(uint160(uint256(header.recipient))));
        uint32 finality = header.finalityThresholdExecuted;
        bool done = finality < FINALIZED
            ? handler.handleReceiveUnfinalizedMessage(header.sourceDomain, header.sender, finality, body)
            : handler.handleReceiveFinalizedMessage(header.sourceDomain, header.sender, finality, body);
        require(done, "the recipient refused the message");
    }
}
