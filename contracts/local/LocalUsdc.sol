// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LocalPermit} from "./LocalPermit.sol";

/// @title A stand-in for USDC on development chains
/// @notice Behaves like FiatTokenV2_2: 6 decimals, EIP-2612 permit, EIP-3009 authorizations, blocklist, pause. As
/// there, the upper bit of a balance's word is the blocklist mark.
contract LocalUsdc is LocalPermit {
    bytes32 public constant TRANSFER_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant RECEIVE_WITH_AUTHORIZATION_TYPEHASH = keccak256(
        "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes32 public constant CANCEL_AUTHORIZATION_TYPEHASH =
        keccak256("CancelAuthorization(address authorizer,bytes32 nonce)");
    uint256 private constant BLOCKED = 1 << 255;

    string public name;
    string public symbol;
    string public constant version = "2";
    uint8 public constant decimals = 6;
    address public immutable minter;
    uint256 public totalSupply;
    bool public paused;

    mapping(address owner => uint256) private _balances;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;
    /// @notice What each configured minter may still create. Whoever has been one may burn.
    mapping(address account => uint256) public minterAllowance;
    mapping(address account => bool) public isMinter;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);
    event Mint(address indexed minter, address indexed to, uint256 amount);
    event Burn(address indexed burner, uint256 amount);
    event MinterConfigured(address indexed minter, uint256 minterAllowedAmount);
    event Blacklisted(address indexed account);
    event UnBlacklisted(address indexed account);
    event Pause();
    event Unpause();

    constructor(string memory name_, string memory symbol_, address minter_) LocalPermit(name_, "2") {
        (name, symbol, minter) = (name_, symbol_, minter_);
    }

    modifier onlyMinter() {
        require(msg.sender == minter, "caller is not the minter");
        _;
    }

    modifier whenNotPaused() {
        require(!paused, "Pausable: paused");
        _;
    }

    function configureMinter(address account, uint256 allowed) external onlyMinter whenNotPaused returns (bool) {
        isMinter[account] = true;
        minterAllowance[account] = allowed;
        emit MinterConfigured(account, allowed);
        return true;
    }

    function mint(address to, uint256 amount) external whenNotPaused returns (bool) {
        require(to != address(0), "mint to the zero address");
        if (msg.sender != minter) {
            require(isMinter[msg.sender], "FiatToken: caller is not a minter");
            require(amount > 0, "FiatToken: mint amount not greater than 0");
            require(amount <= minterAllowance[msg.sender], "FiatToken: mint amount exceeds minterAllowance");
            minterAllowance[msg.sender] -= amount;
        }
        _requireNotBlocked(msg.sender);
        _requireNotBlocked(to);
        totalSupply += amount;
        _balances[to] += amount;
        emit Mint(msg.sender, to, amount);
        emit Transfer(address(0), to, amount);
        return true;
    }

    /// @notice Destroys tokens of the caller, who must be a minter.
    function burn(uint256 amount) external whenNotPaused {
        require(isMinter[msg.sender], "FiatToken: caller is not a minter");
        _requireNotBlocked(msg.sender);
        require(amount > 0, "FiatToken: burn amount not greater than 0");
        require(amount <= _balances[msg.sender], "FiatToken: burn amount exceeds balance");
        totalSupply -= amount;
        _balances[msg.sender] -= amount;
        emit Burn(msg.sender, amount);
        emit Transfer(msg.sender, address(0), amount);
    }

    function blacklist(address account) external onlyMinter {
        _balances[account] |= BLOCKED;
        emit Blacklisted(account);
    }

    function unBlacklist(address account) external onlyMinter {
        _balances[account] &= ~BLOCKED;
        emit UnBlacklisted(account);
    }

    function pause() external onlyMinter {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyMinter {
        paused = false;
        emit Unpause();
    }

    function approve(address spender, uint256 value) external whenNotPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        _setAllowance(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external whenNotPaused returns (bool) {
        _transfer(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external whenNotPaused returns (bool) {
        _requireNotBlocked(msg.sender);
        uint256 allowed = allowance[from][msg.sender];
        require(value <= allowed, "ERC20: transfer amount exceeds allowance");
        if (allowed != type(uint256).max) allowance[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused {
        _useAuthorization(
            from,
            nonce,
            validAfter,
            validBefore,
            keccak256(
                abi.encode(TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
            ),
            abi.encode(v, r, s)
        );
        _transfer(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external whenNotPaused {
        require(to == msg.sender, "FiatTokenV2: caller must be the payee");
        _useAuthorization(
            from,
            nonce,
            validAfter,
            validBefore,
            keccak256(
                abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
            ),
            abi.encode(v, r, s)
        );
        _transfer(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)
        external
        whenNotPaused
    {
        require(!authorizationState[authorizer][nonce], "FiatTokenV2: authorization is used or canceled");
        _requireSignature(
            authorizer, keccak256(abi.encode(CANCEL_AUTHORIZATION_TYPEHASH, authorizer, nonce)), v, r, s
        );
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function isBlacklisted(address account) external view returns (bool) {
        return _balances[account] & BLOCKED != 0;
    }

    function balanceOf(address account) external view returns (uint256) {
        return _balances[account] & ~BLOCKED;
    }

    function _useAuthorization(
        address from,
        bytes32 nonce,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 structHash,
        bytes memory signature
    ) private {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        (uint8 v, bytes32 r, bytes32 s) = abi.decode(signature, (uint8, bytes32, bytes32));
        _requireSignature(from, structHash, v, r, s);
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
    }

    function _transfer(address from, address to, uint256 value) private {
        require(to != address(0), "ERC20: transfer to the zero address");
        _requireNotBlocked(from);
        _requireNotBlocked(to);
        require(value <= _balances[from], "ERC20: transfer amount exceeds balance");
        unchecked {
            _balances[from] -= value;
            _balances[to] += value;
        }
        emit Transfer(from, to, value);
    }

    function _setAllowance(address owner, address spender, uint256 value) internal override {
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }

    function _requireNotBlocked(address account) private view {
        require(_balances[account] & BLOCKED == 0, "Blacklistable: account is blacklisted");
    }
}
