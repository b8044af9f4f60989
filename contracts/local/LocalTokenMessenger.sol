// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ITokenMessengerV2} from "../src/interfaces/ITokenMessengerV2.sol";
import {LocalCctpMessage} from "./LocalCctpMessage.sol";
import {IMessageHandler, LocalMessageTransmitter} from "./LocalMessageTransmitter.sol";
import {LocalUsdc} from "./LocalUsdc.sol";

/// @title A stand-in for Circle's TokenMessengerV2 and TokenMinterV2 on development chains
/// @notice Same calls, messages, events and checks. Its remote messenger is its own address, which is the same on every
/// local chain. To burn and to mint it needs the rights of a minter of the token.
contract LocalTokenMessenger is ITokenMessengerV2, IMessageHandler {
    uint32 public constant messageBodyVersion = 1;
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;
    uint32 private constant MIN_FINALITY = 500;

    address public immutable localMessageTransmitter;
    address public immutable owner;
    address public feeRecipient;
    /// @notice As Circle's: a share of the amount, over 10,000,000.
    uint256 public minFee;
    mapping(address token => uint256) public burnLimitsPerMessage;
    mapping(uint32 domain => mapping(bytes32 token => address)) public localTokens;
    mapping(address account => bool) public isDenylisted;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );

    /// @dev What `depositForBurnWithHook` was asked for.
    struct Deposit {
        uint256 amount;
        uint32 domain;
        bytes32 mintRecipient;
        address token;
        bytes32 caller;
        uint256 maxFee;
        uint32 finality;
    }

    constructor(address owner_, address localMessageTransmitter_) {
        (owner, feeRecipient, localMessageTransmitter) = (owner_, owner_, localMessageTransmitter_);
    }

    modifier onlyOwner() {
        require(msg.sender == owner, "Ownable: caller is not the owner");
        _;
    }

    function setMaxBurnAmountPerMessage(address token, uint256 limit) external onlyOwner {
        burnLimitsPerMessage[token] = limit;
    }

    function linkTokenPair(address localToken, uint32 remoteDomain, bytes32 remoteToken) external onlyOwner {
        localTokens[remoteDomain][remoteToken] = localToken;
    }

    function setMinFee(uint256 minFee_) external onlyOwner {
        require(minFee_ < MIN_FEE_MULTIPLIER, "Min fee too high");
        minFee = minFee_;
    }

    function setDenylisted(address account, bool denylisted) external onlyOwner {
        isDenylisted[account] = denylisted;
    }

    /// @inheritdoc ITokenMessengerV2
    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(!isDenylisted[msg.sender] && !isDenylisted[tx.origin], "Denylistable: account is on denylist");
        require(hookData.length > 0, "Hook data is empty");
        Deposit memory deposit = Deposit(
            amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold
        );
        _checkDeposit(deposit);
        require(LocalUsdc(burnToken).transferFrom(msg.sender, address(this), amount), "Transfer operation failed");
        require(burnLimitsPerMessage[burnToken] > 0, "Burn token not supported");
        require(amount <= burnLimitsPerMessage[burnToken], "Burn amount exceeds per tx limit");
        LocalUsdc(burnToken).burn(amount);
        _sendMessage(deposit, hookData);
    }

    /// @inheritdoc IMessageHandler
    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body)
        external
        returns (bool)
    {
        return _mint(domain, sender, body);
    }

    /// @inheritdoc IMessageHandler
    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 finality, bytes calldata body)
        external
        returns (bool)
    {
        require(finality >= MIN_FINALITY, "Unsupported finality threshold");
        return _mint(domain, sender, body);
    }

    function _checkDeposit(Deposit memory deposit) private view {
        require(deposit.amount > 0, "Amount must be nonzero");
        require(deposit.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(deposit.maxFee < deposit.amount, "Max fee must be less than amount");
        if (minFee == 0) return;
        uint256 least = deposit.amount * minFee / MIN_FEE_MULTIPLIER;
        require(deposit.maxFee >= (least == 0 ? 1 : least), "Insufficient max fee");
    }

    function _sendMessage(Deposit memory deposit, bytes calldata hookData) private {
        LocalCctpMessage.Burn memory burn = LocalCctpMessage.Burn({
            version: messageBodyVersion,
            burnToken: _toWord(deposit.token),
            mintRecipient: deposit.mintRecipient,
            amount: deposit.amount,
            messageSender: _toWord(msg.sender),
            maxFee: deposit.maxFee,
            feeExecuted: 0,
            expirationBlock: 0
        });
        LocalMessageTransmitter(localMessageTransmitter)
            .sendMessage(
                deposit.domain,
                _toWord(address(this)),
                deposit.caller,
                deposit.finality,
                LocalCctpMessage.encodeBurn(burn, hookData)
            );
        emit DepositForBurn(
            deposit.token,
            deposit.amount,
            msg.sender,
            deposit.mintRecipient,
            deposit.domain,
            _toWord(address(this)),
            deposit.caller,
            deposit.maxFee,
            deposit.finality,
            hookData
        );
    }

    function _mint(uint32 domain, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(sender == _toWord(address(this)), "Remote TokenMessenger unsupported");
        (LocalCctpMessage.Burn memory burn,) = LocalCctpMessage.decodeBurn(body);
        require(burn.version == messageBodyVersion, "Invalid message body version");
        require(
            burn.expirationBlock == 0 || burn.expirationBlock > block.number, "Message expired and must be re-signed"
        );
        uint256 fee = burn.feeExecuted;
        require(fee == 0 || fee < burn.amount, "Fee equals or exceeds amount");
        require(fee <= burn.maxFee, "Fee exceeds max fee");
        address token = localTokens[domain][burn.burnToken];
        require(token != address(0), "Mint token not supported");
        address to = address(uint160(uint256(burn.mintRecipient)));
        require(LocalUsdc(token).mint(to, burn.amount - fee), "Mint operation failed");
        if (fee != 0) require(LocalUsdc(token).mint(feeRecipient, fee), "Second mint operation failed");
        emit MintAndWithdraw(to, burn.amount - fee, token, fee);
        return true;
    }

    function _toWord(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
