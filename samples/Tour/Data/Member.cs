namespace Tour.Data;

/// <summary>An entry of the data set, such as the text of <c>M:System.String.IndexOf(System.Char)</c>.</summary>
internal sealed record Member(byte[] Key, byte[] Text);
