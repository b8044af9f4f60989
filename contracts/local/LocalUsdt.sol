// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice What the issuer's next contract offers to the one that it replaces.
interface IUpgradedUsdt {
    function transferByLegacy(address from, address to, uint256 value) external;
    function transferFromByLegacy(address sender, address from, address to, uint256 value) external;
    function approveByLegacy(address from, address spender, uint256 value) external;
    function balanceOf(address owner) external view returns (uint256);
    function allowance(address owner, address spender) external view returns (uint256);
    function totalSupply() external view returns (uint256);
}

/// @title A stand-in for Ethereum's USDT on development chains
/// @notice As there: 6 decimals, `transfer`, `transferFrom` and `approve` return nothing, an allowance can only be
/// changed by way of zero, blocklist, pause, no permit, a transfer fee that lies dormant at zero, and an issuer that can
/// hand everything on to another contract. Calldata that is too short is refused: there by a check, here by the compiler's.
contract LocalUsdt {
    /// @dev The fee stays below both: basis points of a transfer, and whole tokens.
    uint256 private constant BASIS_POINTS_LIMIT = 20;
    uint256 private constant MAXIMUM_FEE_LIMIT = 50;

    string public name;
    string public symbol;
    uint8 public constant decimals = 6;
    address public immutable minter;
    uint256 public basisPointsRate;
    /// @notice Most that a transfer loses, in the token's own units.
    uint256 public maximumFee;
    bool public paused;
    bool public deprecated;
    address public upgradedAddress;

    uint256 private _totalSupply;
    mapping(address owner => uint256) private _balances;
    mapping(address owner => mapping(address spender => uint256)) private _allowances;
    mapping(address account => bool) public isBlackListed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event Issue(uint256 amount);
    event Params(uint256 feeBasisPoints, uint256 maxFee);
    event AddedBlackList(address account);
    event RemovedBlackList(address account);
    event Pause();
    event Unpause();
    event Deprecate(address newAddress);

    constructor(string memory name_, string memory symbol_, address minter_) {
        (name, symbol, minter) = (name_, symbol_, minter_);
    }

    modifier onlyMinter() {
        require(msg.sender == minter);
        _;
    }

    /// @notice Creates tokens for the minter, who passes them on.
    function issue(uint256 amount) external onlyMinter {
        _totalSupply += amount;
        _balances[minter] += amount;
        emit Issue(amount);
        emit Transfer(address(0), minter, amount);
    }

    /// @notice Wakes the fee: basis points that each transfer loses to the minter, and the most in whole tokens.
    function setParams(uint256 newBasisPoints, uint256 newMaxFee) external onlyMinter {
        require(newBasisPoints < BASIS_POINTS_LIMIT);
        require(newMaxFee < MAXIMUM_FEE_LIMIT);
        basisPointsRate = newBasisPoints;
        maximumFee = newMaxFee * 10 ** decimals;
        emit Params(basisPointsRate, maximumFee);
    }

    /// @notice From now on another contract keeps balances and allowances, and this one only asks it.
    function deprecate(address upgraded) external onlyMinter {
        deprecated = true;
        upgradedAddress = upgraded;
        emit Deprecate(upgraded);
    }

    function addBlackList(address account) external onlyMinter {
        isBlackListed[account] = true;
        emit AddedBlackList(account);
    }

    function removeBlackList(address account) external onlyMinter {
        isBlackListed[account] = false;
        emit RemovedBlackList(account);
    }

    function pause() external onlyMinter {
        paused = true;
        emit Pause();
    }

    function unpause() external onlyMinter {
        paused = false;
        emit Unpause();
    }

    function approve(address spender, uint256 value) external {
        if (deprecated) return IUpgradedUsdt(upgradedAddress).approveByLegacy(msg.sender, spender, value);
        require(value == 0 || _allowances[msg.sender][spender] == 0);
        _allowances[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
    }

    /// @dev As the original, which checks the sender of the tokens and not their receiver.
    function transfer(address to, uint256 value) external {
        require(!paused && !isBlackListed[msg.sender]);
        if (deprecated) return IUpgradedUsdt(upgradedAddress).transferByLegacy(msg.sender, to, value);
        _transfer(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external {
        require(!paused && !isBlackListed[from]);
        if (deprecated) return IUpgradedUsdt(upgradedAddress).transferFromByLegacy(msg.sender, from, to, value);
        uint256 allowed = _allowances[from][msg.sender];
        if (allowed != type(uint256).max) _allowances[from][msg.sender] = allowed - value;
        _transfer(from, to, value);
    }

    function balanceOf(address owner) external view returns (uint256) {
        return deprecated ? IUpgradedUsdt(upgradedAddress).balanceOf(owner) : _balances[owner];
    }

    function allowance(address owner, address spender) external view returns (uint256) {
        return deprecated ? IUpgradedUsdt(upgradedAddress).allowance(owner, spender) : _allowances[owner][spender];
    }

    function totalSupply() external view returns (uint256) {
        return deprecated ? IUpgradedUsdt(upgradedAddress).totalSupply() : _totalSupply;
    }

    function _transfer(address from, address to, uint256 value) private {
        uint256 fee = value * basisPointsRate / 10_000;
        if (fee > maximumFee) fee = maximumFee;
        _balances[from] -= value;
        _balances[to] += value - fee;
        if (fee != 0) {
            _balances[minter] += fee;
            emit Transfer(from, minter, fee);
        }
        emit Transfer(from, to, value - fee);
    }
}
