namespace Voron;

/// <summary>How the values of a tree are compressed.</summary>
public enum ValueCompression
{
    /// <summary>Not at all.</summary>
    None,

    /// <summary>With little work: about half of the bytes of records that have much in common.</summary>
    Fast,

    /// <summary>With more work for each write: a fifth to a quarter fewer bytes than <see cref="Fast"/>. Reading is no slower.</summary>
    Thorough,
}
